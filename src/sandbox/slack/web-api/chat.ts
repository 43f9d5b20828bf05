import { checkOutsiders, checkThread } from '../checks.ts';
import { sendChanged, sendInBackground, sendPosted } from '../events.ts';
import { textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { describeMessage } from '../payloads.ts';
import { WebApiError } from '../refusal.ts';
import { APP, type Channel, findChannel } from '../workspace.ts';
import type { World } from '../world.ts';
import { getMessageContent, getVisibleChannel, required, type WebMethods } from './method.ts';

const scopes = ['chat:write'];

export const chatMethods: WebMethods = {
  'chat.postMessage': { scopes, run: postMessage },
  'chat.postEphemeral': { scopes, run: postEphemeral },
  'chat.update': { scopes, run: update },
  'reactions.add': { scopes: ['reactions:write'], run: react },
};

/** Slack's page of `reactions.add` doesn't say whether the app has to be in a public channel, so here it has to be. */
function react(world: World, args: Json): Json {
  const channel = getVisibleChannel(world, required(args, 'channel'));
  const name = required(args, 'name');
  if (!channel.members.has(APP.botUserId)) throw new WebApiError('not_in_channel');
  if (channel.isArchived) throw new WebApiError('is_archived');
  const message = world.messages.find(channel.id, required(args, 'timestamp'));
  if (!message || message.to !== undefined) throw new WebApiError('message_not_found');
  if (!/^[a-z0-9_+-]+$/.test(name)) throw new WebApiError('invalid_name');
  if (message.reactions.includes(name)) throw new WebApiError('already_reacted');
  world.messages.react(message, name);
  return {};
}

function postMessage(world: World, args: Json): Json {
  const wanted = required(args, 'channel');
  // A user's ID means the app's conversation with that user.
  const direct = findChannel(world.channels, 'dm', wanted)?.id ?? 'none';
  const channel = getVisibleChannel(world, world.roster.findUser(wanted) ? direct : wanted);
  if (channel.isArchived) throw new WebApiError('is_archived');
  checkMessagesTab(world, channel);
  const mayPostAnywhere = world.app.scopes.includes('chat:write.public') && channel.kind === 'public';
  if (!channel.members.has(APP.botUserId) && !mayPostAnywhere) throw new WebApiError('not_in_channel');
  const { text, blocks } = getMessageContent(world, 'chat.postMessage', args);
  checkOutsiders(world, 'chat.postMessage', channel.id, text);
  const threadTs = textIn(args, 'thread_ts');
  checkThread(world, 'chat.postMessage', channel.id, threadTs);
  if (String(args.reply_broadcast) === 'true')
    world.journal.breakRule('broadcast', 'chat.postMessage: a reply that the whole channel is shown');
  const message = world.messages.post({
    channel: channel.id,
    user: APP.botUserId,
    text,
    blocks,
    threadTs: threadTs || undefined,
  });
  sendInBackground(sendPosted(world, message));
  return { channel: channel.id, ts: message.ts, message: describeMessage(message) };
}

/** An app whose manifest has no Messages tab can't write to users. @throws WebApiError messages_tab_disabled */
function checkMessagesTab(world: World, channel: Channel): void {
  if (channel.kind !== 'dm' || world.app.hasMessagesTab) return;
  world.journal.breakRule('messages_tab', 'a direct message of an app without a Messages tab');
  throw new WebApiError('messages_tab_disabled');
}

function postEphemeral(world: World, args: Json): Json {
  const channel = getVisibleChannel(world, required(args, 'channel'));
  const user = world.roster.findUser(required(args, 'user'));
  if (channel.isArchived) throw new WebApiError('is_archived');
  checkMessagesTab(world, channel);
  if (!channel.members.has(APP.botUserId)) throw new WebApiError('not_in_channel');
  if (!user || !channel.members.has(user.id)) throw new WebApiError('user_not_in_channel');
  const { text, blocks } = getMessageContent(world, 'chat.postEphemeral', args);
  if (world.faults.losesEphemerals) return { message_ts: world.ids.ts() };
  const threadTs = textIn(args, 'thread_ts');
  checkThread(world, 'chat.postEphemeral', channel.id, threadTs);
  // "Ephemeral messages in threads are only shown if there is already an active thread" (Slack's page of the method).
  if (threadTs && world.messages.repliesTo(channel.id, threadTs).length === 0)
    return { message_ts: world.ids.ts() };
  const message = world.messages.post({
    channel: channel.id,
    user: APP.botUserId,
    text,
    blocks,
    to: user.id,
    ...(threadTs ? { threadTs } : {}),
  });
  return { message_ts: message.ts };
}

function update(world: World, args: Json): Json {
  const channel = getVisibleChannel(world, required(args, 'channel'));
  const message = world.messages.find(channel.id, required(args, 'ts'));
  // Ephemeral messages can't be found this way (Slack's chat.postEphemeral page).
  if (!message || message.to !== undefined) throw new WebApiError('message_not_found');
  if (message.user !== APP.botUserId) throw new WebApiError('cant_update_message');
  const { text, blocks } = getMessageContent(world, 'chat.update', args);
  const changed = world.messages.change(message, text, blocks);
  sendInBackground(sendChanged(world, changed, message));
  return { channel: changed.channel, ts: changed.ts, text, message: describeMessage(changed) };
}
