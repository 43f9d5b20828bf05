import { describe, expect, it } from 'vitest';
import {
  actionPayload,
  actorOf,
  commandPayload,
  shortcutPayload,
  submissionPayload,
  suggestionPayload,
} from '../../../src/slack/payloads.ts';
import {
  commandSample,
  globalShortcutSample,
  messagePressSample,
  messageShortcutSample,
  messageSuggestionSample,
  ORGANIZATION,
  OURS,
  SENDERS,
  type Sender,
  submissionSample,
  viewPressSample,
  viewSuggestionSample,
} from '../../support/payloads/samples.ts';

/** Each kind of payload, read as the app reads it. */
const READERS = {
  'a press in a message': (sender: Sender) =>
    actorOf(actionPayload.parse(messagePressSample(sender)), undefined),
  'a press in a modal': (sender: Sender) => actorOf(actionPayload.parse(viewPressSample(sender)), undefined),
  'a submission': (sender: Sender) => actorOf(submissionPayload.parse(submissionSample(sender)), undefined),
  'a choice in a message': (sender: Sender) =>
    actorOf(suggestionPayload.parse(messageSuggestionSample(sender)), undefined),
  'a choice in a modal': (sender: Sender) =>
    actorOf(suggestionPayload.parse(viewSuggestionSample(sender)), undefined),
  'a shortcut': (sender: Sender) => actorOf(shortcutPayload.parse(globalShortcutSample(sender)), undefined),
  'a shortcut on a message': (sender: Sender) =>
    actorOf(shortcutPayload.parse(messageShortcutSample(sender)), undefined),
};

describe.each(Object.entries(SENDERS))('%s', (_name, sender: Sender) => {
  it.each(
    Object.entries(READERS),
  )('is identified in %s by their ID, home team and the workspace of the app', (_kind, read) => {
    expect(read(sender)).toEqual({
      // Slack names no workspace then, and none is guessed.
      workspaceId: sender.isOrgInstall ? ORGANIZATION : OURS,
      userId: sender.userId,
      homeTeamId: sender.userTeamId,
    });
  });

  it('is identified in a command by the workspace where it was typed', () => {
    expect(commandPayload.parse(commandSample(sender))).toMatchObject({
      team_id: OURS,
      user_id: sender.userId,
    });
  });
});

describe('a view without the team that the app is installed in', () => {
  it('belongs to the team that Slack names otherwise', () => {
    const [sender] = Object.values(SENDERS);
    if (!sender) throw new Error('there are no samples');
    const payload = submissionPayload.parse(submissionSample(sender));
    for (const app_installed_team_id of [null, undefined]) {
      const view = { ...payload.view, app_installed_team_id };
      expect(actorOf({ ...payload, view }, undefined).workspaceId).toBe(OURS);
    }
  });
});
