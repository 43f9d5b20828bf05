import { z } from 'zod';
import { changeSettings, readSettings } from '../../app/account/change-settings.ts';
import { checkChannel } from '../../app/account/check-channel.ts';
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
  load: async (_input, request, origin) =>
    settingsView(await request.execute(readSettings, {}), origin, request.currency),
});

export const settings = defineCommand({
  name: 'settings',
  usage: 'settings',
  summary: 'Change announcements, approvals, budgets, the currency and the purchase freeze',
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
      const fault = await findChannelFault(was, wanted, request);
      if (fault !== undefined) return { with: { errors: { channel: fault } } };
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

/** Why the app can't post to a newly chosen channel, in words. */
async function findChannelFault(
  was: WorkspaceSettings,
  { channelId }: WorkspaceSettings,
  request: SlackRequest,
): Promise<string | undefined> {
  if (channelId === undefined || channelId === was.channelId) return undefined;
  return request.execute(checkChannel, { channelId }).then(
    () => undefined,
    // Errors beside fields are plain text.
    (error: unknown) => request.explain(error).replaceAll('`', ''),
  );
}
