import { z } from 'zod';
import { changeSettings, readSettings } from '../../app/account/change-settings.ts';
import { checkChannel } from '../../app/account/check-channel.ts';
import { listChanges, type WorkspaceSettings } from '../../domain/settings.ts';
import { textMessage } from '../kit/blocks.ts';
import { defineCommand } from '../kit/command.ts';
import { defineForm, loadingView, noticeView } from '../kit/form.ts';
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
    settingsView(await request.execute(readSettings, {}), origin, request.currency),
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
      const words = savedWords(was, wanted, request.currency);
      if (listChanges(was, wanted).length === 0) return { with: noticeView(SETTINGS_TITLE, words) };
      const fault = await findChannelFault(was, wanted, request);
      if (fault !== undefined) return { with: { errors: { channel: fault } } };
      return {
        with: loadingView(SETTINGS_TITLE, 'Saving…'),
        after: async () => {
          await request.execute(changeSettings, { was, settings: wanted });
          await request.views.update(viewId, noticeView(SETTINGS_TITLE, words));
          await request.reply.send(textMessage(words));
        },
      };
    }),
  ],
});

/** Why the app can't post to a newly chosen channel, in words. */
async function findChannelFault(
  was: WorkspaceSettings,
  { channelId }: WorkspaceSettings,
  request: SlackRequest,
): Promise<string | undefined> {
  if (channelId === undefined || channelId === was.channelId) return undefined;
  return request.execute(checkChannel, { channelId }).then(
    () => undefined,
    (error: unknown) => request.explain(error),
  );
}
