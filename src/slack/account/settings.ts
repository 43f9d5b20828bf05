import { z } from 'zod';
import { changeSettings, readSettings } from '../../app/account/change-settings.ts';
import { checkChannel } from '../../app/account/check-channel.ts';
import { findOwnZone } from '../../app/reminders/reminder-settings.ts';
import { listChanges, type WorkspaceSettings } from '../../domain/settings.ts';
import { textMessage } from '../kit/blocks.ts';
import { defineCommand } from '../kit/command.ts';
import { defineForm, loadingView, noticeView } from '../kit/form.ts';
import type { SlackRequest } from '../transport/request.ts';
import { readSettingsFields, SETTINGS_TITLE, settingsForm, settingsView } from './settings-form.ts';
import { savedWords } from './settings-words.ts';

const form = defineForm({
  id: 'settings',
  title: SETTINGS_TITLE,
  input: z.object({}),
  needs: readSettings,
  load: async (_input, request, origin) => {
    const settings = await request.execute(readSettings, {});
    // Proposed only while there is no digest: no one else waits for Slack.
    const ownZone = settings.digest ? undefined : await request.execute(findOwnZone, {});
    return settingsView(settings, origin, request.currency, ownZone);
  },
});

export const settings = defineCommand({
  name: 'settings',
  usage: 'settings',
  summary: 'Change announcements, approvals, budgets, the daily digest, the currency and the purchase freeze',
  needs: 'owner',
  parse: ({ words }) => (words.length > 0 ? '`/vps settings` takes no arguments.' : {}),
  run: (_input, request) => form.open({}, request),
  actions: [form.handler],
  modals: [
    settingsForm.onSubmit(changeSettings, async ({ fields, metadata: was, viewId }, request) => {
      const freezeBy = { by: request.caller.actor.userId, since: request.now() };
      const wanted = readSettingsFields(fields, was, freezeBy);
      const words = savedWords(was, wanted, currencyOf(was, wanted, request));
      if (listChanges(was, wanted).length === 0) return { with: noticeView(SETTINGS_TITLE, words) };
      const errors = await findChannelFaults(was, wanted, request);
      if (Object.keys(errors).length > 0) return { with: { errors } };
      return {
        with: loadingView(SETTINGS_TITLE, 'Saving…'),
        after: async () => {
          await request.execute(changeSettings, { was, settings: wanted });
          await request.views.update(viewId, noticeView(SETTINGS_TITLE, words));
          await request.reply.send(textMessage(words));
          await announceFreeze(was, wanted, request);
        },
      };
    }),
  ],
});

/** What amounts are in once this is saved; the default of the app is known only while no other currency is set. */
function currencyOf(was: WorkspaceSettings, is: WorkspaceSettings, { currency }: SlackRequest): string {
  return is.currency ?? (was.currency === undefined ? currency : '');
}

/** Users who were about to buy something have to know why they can't, or that they can again. */
async function announceFreeze(
  was: WorkspaceSettings,
  is: WorkspaceSettings,
  request: SlackRequest,
): Promise<void> {
  if (was.freeze === undefined && is.freeze !== undefined)
    await request.announce('froze purchases: nothing can be bought or renewed for now');
  if (was.freeze !== undefined && is.freeze === undefined)
    await request.announce('lifted the purchase freeze');
}

/** Why the app can't post to newly chosen channels, in words, by field. */
async function findChannelFaults(
  was: WorkspaceSettings,
  is: WorkspaceSettings,
  request: SlackRequest,
): Promise<Readonly<Record<string, string>>> {
  const chosen = [
    ['channel', 'approvals', is.channelId, was.channelId],
    ['digestChannel', 'digest', is.digest?.channelId, was.digest?.channelId],
  ] as const;
  // Side by side: Slack waits 3 s for the answer to the form.
  const faults = await Promise.all(
    chosen.map(async ([field, purpose, channelId, before]) => {
      if (channelId === undefined || channelId === before) return [];
      const fault = await request.execute(checkChannel, { channelId, purpose }).then(
        () => undefined,
        // Errors beside fields are plain text.
        (error: unknown) => request.explain(error).replaceAll('`', ''),
      );
      return fault === undefined ? [] : [[field, fault] as const];
    }),
  );
  return Object.fromEntries(faults.flat());
}
