import { z } from 'zod';
import { changeSettings, readSettings } from '../../app/account/change-settings.ts';
import { withTimeout } from '../../app/with-timeout.ts';
import { Refusal } from '../../domain/errors.ts';
import { listChanges, type WorkspaceSettings } from '../../domain/settings.ts';
import { textMessage } from '../kit/blocks.ts';
import { defineCommand } from '../kit/command.ts';
import { defineForm, loadingView, noticeView } from '../kit/form.ts';
import { mention } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import {
  readSettingsFields,
  SETTINGS_TITLE,
  savedWords,
  settingsForm,
  settingsView,
} from './settings-form.ts';

const form = defineForm({
  id: 'settings',
  title: SETTINGS_TITLE,
  input: z.object({}),
  needs: readSettings,
  load: async (_input, request, origin) =>
    settingsView(await request.execute(readSettings, {}), origin, request.bench.currency),
});

export const settings = defineCommand({
  name: 'settings',
  usage: 'settings',
  summary: 'Sets announcements, the two-person rule, budgets and the channel for requests to approve',
  needs: 'owner',
  parse: ({ words }) => (words.length > 0 ? 'Settings are changed in a form: leave the rest out.' : {}),
  run: (_input, request) => form.open({}, request),
  actions: [form.handler],
  modals: [
    settingsForm.onSubmit(changeSettings, async ({ fields, metadata: was, viewId }, request) => {
      const wanted = readSettingsFields(fields);
      const words = savedWords(was, wanted, request.bench.currency);
      if (listChanges(was, wanted).length === 0) return { with: noticeView(SETTINGS_TITLE, words) };
      const fault = await findChannelFault(was, wanted, request);
      if (fault !== undefined) return { with: { errors: { channel: fault } } };
      return {
        with: loadingView(SETTINGS_TITLE, 'Saving…'),
        after: async () => {
          await request.execute(changeSettings, { was, settings: wanted });
          await request.bench.slack.updateView(viewId, noticeView(SETTINGS_TITLE, words));
          await request.reply.send(textMessage(words));
        },
      };
    }),
  ],
});

/** Slack wants its answer within 3 s. */
const CHECK_MS = 2000;

/** A channel that is newly chosen is written to once, so that no request is lost in one that the app is not in. */
async function findChannelFault(
  was: WorkspaceSettings,
  { channelId }: WorkspaceSettings,
  request: SlackRequest,
): Promise<string | undefined> {
  if (channelId === undefined || channelId === was.channelId) return undefined;
  const { slack, services } = request.bench;
  const words = `${mention(request.caller.actor.userId)} wants requests to approve, and reminders, of \`/vps\` to come here; this message only tries whether they would.`;
  const posted = await withTimeout(slack.post(channelId, textMessage(words)), services.system, CHECK_MS);
  if (!posted) return 'Slack did not say in time whether the app can write to that channel. Try again.';
  return posted.ok ? undefined : request.explain(new Refusal('channel_unwritable', { reason: posted.error }));
}
