import type { RefusalWords } from '../kit/refusal-words.ts';
import { codeTyped } from '../kit/text.ts';
import { frozenWords } from './frozen-words.ts';

/** What the refusals of the hosting account and the workspace’s settings say. */
export const accountRefusalWords = {
  other_workspace: () => 'This app isn’t set up for this workspace.',
  no_api_key: () => 'No hosting account is connected yet. An owner can connect one with `/vps connect`.',
  key_unreadable: ({ keyId }) =>
    `Stored data was encrypted with key ${codeTyped(keyId)}, which is missing from \`ENCRYPTION_KEYS\`. Your admin can restore the key, or an owner can reconnect with \`/vps connect\`.`,
  link_unusable: ({ reason }) =>
    reason === 'expired'
      ? 'This link has expired. Run `/vps connect` for a new one.'
      : 'This link was already used or never existed. Run `/vps connect` for a new one.',
  no_public_url: ({ workspaceId }) =>
    `This app has no public address (\`PUBLIC_URL\`), so it can’t show you a page for the API key. On the machine where the app runs, run ${codeTyped(`npm run key -- set --workspace ${workspaceId}`)} and enter the key there. The app can keep running.`,
  channel_unwritable: ({ reason }) =>
    reason === 'timeout'
      ? 'Slack didn’t answer in time, so we can’t tell whether the app can post in that channel. Try again.'
      : `The app can’t post in that channel: ${UNWRITABLE[reason] ?? 'Slack refused the test message. Choose another one.'}`,
  settings_moved: () =>
    'Someone else changed the settings while your form was open, so nothing was saved. Run `/vps settings` again to see them as they are now.',
  purchases_frozen: (freeze) => `${frozenWords(freeze)} Nothing was ordered or charged.`,
} satisfies Partial<RefusalWords>;

const UNWRITABLE: Readonly<Record<string, string>> = {
  not_in_channel: 'it’s not a member. Invite it with `/invite`, then save again.',
  channel_not_found: 'it can’t see the channel. Invite it with `/invite`, then save again.',
  is_archived: 'the channel is archived. Choose another one.',
  channel_is_shared: 'the channel is shared with another organization. Choose another one.',
  channel_unreadable:
    'it can’t tell whether other organizations are in it (missing scopes `channels:read` and `groups:read`).',
};
