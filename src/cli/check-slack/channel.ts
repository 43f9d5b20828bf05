import { z } from 'zod';
import type { Checkup } from './checkup.ts';
import { findChannelId } from './find-channel.ts';
import type { ChannelName } from './options.ts';
import { problemOf, problemOfCode } from './problem-words.ts';
import type { Problem } from './report.ts';
import { mayUse } from './scopes.ts';
import { deleteMessage, postMessage, TEST_MESSAGES } from './test-messages.ts';

const POSTING = ['post', 'edit', 'ephemeral message', 'delete'] as const;

/** Looks the channel up, and posts, edits and deletes a message there, if no outsiders would read it. */
export async function checkChannel(checkup: Checkup, wanted: ChannelName | undefined): Promise<void> {
  const { report, granted } = checkup;
  if (!wanted) {
    const text = 'name a channel with --channel.';
    report.skipped('channel', text);
    return skipPosting(checkup, text);
  }
  if (!mayUse(granted, 'channels:read') && !mayUse(granted, 'groups:read')) {
    report.skipped('channel', 'needs the scope channels:read, or groups:read for a private one.');
    return skipPosting(checkup, UNSEEN);
  }
  const channel = await lookUp(checkup, wanted);
  if (channel === undefined) return skipPosting(checkup, UNSEEN);
  if (channel.isShared)
    return skipPosting(checkup, 'another organization would read it. Name another channel.');
  if (!mayUse(granted, 'chat:write')) return skipPosting(checkup, 'needs the scope chat:write first.');
  await postAndDelete(checkup, channel);
}

const UNSEEN = 'the channel has to be seen by the app first.';

function skipPosting({ report }: Checkup, text: string): void {
  for (const check of POSTING) report.skipped(check, text);
}

/** Where the app may post. */
interface Channel {
  readonly id: string;
  readonly title: string;
  readonly isShared: boolean;
}

/** The fields that `slack/directory/channels.ts` reads, and what keeps the app from posting. */
const channelFields = z.object({
  channel: z.object({
    name: z.string().catch(''),
    is_im: z.boolean().catch(false),
    is_mpim: z.boolean().catch(false),
    is_archived: z.boolean().catch(false),
    is_member: z.boolean().catch(true),
    is_ext_shared: z.boolean(),
    is_pending_ext_shared: z.boolean().catch(false),
  }),
});

async function lookUp(checkup: Checkup, wanted: ChannelName): Promise<Channel | undefined> {
  const { api, report } = checkup;
  const refuse = (problem: Problem) => {
    report.failed('channel', problem);
    return undefined;
  };
  const id = await findChannelId(checkup, wanted);
  if (id === undefined) return refuse({ code: 'channel_not_found', text: unknownName(wanted.text) });
  if (typeof id !== 'string') return refuse(problemOf('conversations.list', id));
  const answer = await api.call('conversations.info', { channel: id });
  if (answer.kind !== 'accepted') return refuse(problemOf('conversations.info', answer));
  const found = channelFields.safeParse(answer.body).data?.channel;
  if (!found) return refuse(problemOfCode('conversations.info', NO_CHANNEL));
  const code = unfitCode(found);
  if (code !== undefined) return refuse(problemOfCode('conversations.info', code));
  const title = found.name === '' ? id : `#${found.name}`;
  const isShared = found.is_ext_shared || found.is_pending_ext_shared;
  if (isShared) report.warning('channel', { code: 'shared_channel', text: sharedWords(title) });
  else report.ok('channel', `${title} (${id}), not shared with other organizations.`);
  return { id, title, isShared };
}

const NO_CHANNEL = 'method_not_supported_for_channel_type';

/** Why the app can't post there, as a code that has words. */
function unfitCode(channel: z.output<typeof channelFields>['channel']): string | undefined {
  if (channel.is_im || channel.is_mpim) return NO_CHANNEL;
  if (channel.is_archived) return 'is_archived';
  return channel.is_member ? undefined : 'not_in_channel';
}

const unknownName = (name: string) =>
  `The app sees no channel #${name}. Check the name; if the channel is private, invite the app: type /invite @vps there.`;

const sharedWords = (title: string) =>
  `${title} is shared with another organization, or about to be: the app announces nothing there. Nothing was posted.`;

async function postAndDelete(checkup: Checkup, { id, title }: Channel): Promise<void> {
  const { api, report } = checkup;
  const message = await postMessage(checkup, id);
  if ('kind' in message) {
    report.failed('post', problemOf('chat.postMessage', message));
    for (const check of POSTING.slice(1)) report.skipped(check, 'needs a message first.');
    return;
  }
  report.ok('post', `in ${title}.`);
  const edit = await api.call('chat.update', { ...message, ...TEST_MESSAGES.edited });
  if (edit.kind === 'accepted') report.ok('edit', `in ${title}.`);
  else report.failed('edit', problemOf('chat.update', edit));
  await checkEphemeral(checkup, id);
  await deleteMessage(checkup, 'delete', message, `in ${title}`);
}

async function checkEphemeral({ api, report, userId: user }: Checkup, channel: string): Promise<void> {
  const check = 'ephemeral message';
  if (user === undefined) return report.skipped(check, 'name a user with --user, or set OWNERS.');
  const answer = await api.call('chat.postEphemeral', { channel, user, ...TEST_MESSAGES.ephemeral });
  if (answer.kind !== 'accepted') return report.failed(check, problemOf('chat.postEphemeral', answer));
  report.ok(check, `Slack accepted one to ${user}; it shows only while they are looking.`);
}
