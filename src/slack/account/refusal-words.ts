import type { RefusalWords } from '../kit/refusal-words.ts';
import { codeTyped } from '../kit/text.ts';
import { frozenWords } from './frozen-words.ts';

/** What the refusals of the hosting account and the workspace’s settings say. */
export const accountRefusalWords = {
  other_workspace: () => 'This app is not set up for this workspace.',
  no_api_key: () => 'No hosting account is connected yet. An owner can do that with `/vps connect`.',
  key_unreadable: ({ keyId }) =>
    `What is stored was sealed with the encryption key ${codeTyped(keyId)}, which is missing from \`ENCRYPTION_KEYS\`. The operator can put it back; or connect the API key anew.`,
  link_unusable: ({ reason }) =>
    reason === 'expired'
      ? 'This link is too old: it works for ten minutes. Ask for a new one with /vps connect.'
      : 'This link has been used, or never existed. Ask for a new one with /vps connect.',
  no_public_url: () =>
    'The app has no public address (`PUBLIC_URL`), so it can’t show you a form. The operator can set the API key on the machine itself: `npm run key -- set --workspace …`.',
  channel_unwritable: ({ reason }) =>
    reason === 'timeout'
      ? 'Slack did not say in time whether the app can write to that channel. Try again.'
      : `The app can’t write to that channel: ${UNWRITABLE[reason] ?? 'Slack refuses it'}. Invite it there first, or choose another one.`,
  settings_moved: () =>
    'Someone else changed the settings while your form was open, so nothing was saved. Run `/vps settings` again to see them as they are now.',
  purchases_frozen: (freeze) => `${frozenWords(freeze)} Nothing was ordered or charged.`,
} satisfies Partial<RefusalWords>;

const UNWRITABLE: Readonly<Record<string, string>> = {
  not_in_channel: 'it is no member of it',
  channel_not_found: 'it does not see it',
  is_archived: 'it is archived',
  channel_is_shared: 'other organizations read along in it',
  channel_unreadable:
    'it can’t see whether other organizations read along, which takes the scopes `channels:read` and `groups:read`',
};
