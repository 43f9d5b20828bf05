import { checkMessage, checkOutsiders, checkThread, faultWords, hasRefusedBlock } from './checks.ts';
import { isJson, readJson, textIn } from './json.ts';
import type { Json, Texts } from './page-api.ts';
import { WebApiError } from './refusal.ts';
import { APP, type Team } from './workspace.ts';
import type { Ids, SlackClock, World } from './world.ts';

interface ReplyAnswer {
  readonly status: number;
  readonly body: string;
}

/** Answers one post to a response_url (Slack's "Handling user interaction" page). */
export function answerReplyPost(world: World, path: string, body: string): ReplyAnswer {
  const broken = world.faults.takeReplyUrlStatus();
  if (broken !== undefined) return { status: broken, body: 'server_error' };
  let url: ReplyUrl;
  try {
    url = world.replyUrls.use(path);
  } catch (error) {
    if (!(error instanceof WebApiError)) throw error;
    world.journal.breakRule(REFUSED_USES[error.code] ?? 'reply_url_unknown', `response_url: ${error.code}`);
    return { status: 404, body: error.code };
  }
  const lost = findLostChannel(world, url);
  if (lost) return lost;
  try {
    post(world, url, body);
    return { status: 200, body: world.faults.replyAnswer };
  } catch (error) {
    if (!(error instanceof WebApiError)) throw error;
    return { status: 200, body: JSON.stringify({ ok: false, error: error.code, ...error.more }) };
  }
}

const REFUSED_USES: Texts = {
  used_url: 'reply_url_used_up',
  expired_url: 'reply_url_expired',
};

/** Where a channel is archived or gone, posts fail as those to Slack's incoming webhooks do. */
function findLostChannel(world: World, url: ReplyUrl): ReplyAnswer | undefined {
  const channel = world.channels.find((each) => each.id === url.channel);
  if (!channel) return { status: 404, body: 'channel_not_found' };
  return channel.isArchived ? { status: 410, body: 'channel_is_archived' } : undefined;
}

function post(world: World, url: ReplyUrl, body: string): void {
  const reply = readJson(body);
  if (!isJson(reply)) throw new WebApiError('invalid_payload');
  if (reply.delete_original === true) {
    removeOriginal(world, url);
    return;
  }
  const text = textIn(reply, 'text');
  if (text.trim() === '' && !Array.isArray(reply.blocks)) throw new WebApiError('no_text');
  checkContent(world, reply);
  if (reply.replace_original === true && url.original) {
    replaceOriginal(world, url, reply);
    return;
  }
  const isPublic = textIn(reply, 'response_type') === 'in_channel';
  if (isPublic) checkOutsiders(world, 'response_url', url.channel, text);
  // Slack documents threads for public answers only.
  const threadTs = isPublic ? textIn(reply, 'thread_ts') : '';
  checkThread(world, 'response_url', url.channel, threadTs);
  world.messages.post({
    channel: url.channel,
    user: APP.botUserId,
    text,
    blocks: reply.blocks,
    ...(isPublic ? {} : { to: url.user }),
    ...(threadTs ? { threadTs } : {}),
  });
}

function checkContent(world: World, reply: Json): void {
  if (hasRefusedBlock(world, reply.blocks)) throw new WebApiError('invalid_blocks');
  const content = { ...(reply.text === undefined ? {} : { text: reply.text }), blocks: reply.blocks };
  const faults = checkMessage(world, 'response_url', content);
  if (faults.length > 0)
    throw new WebApiError('invalid_blocks', { response_metadata: { messages: faultWords(faults) } });
}

/** An ephemeral message that is gone can't be changed, and Slack does not say so. */
function replaceOriginal(world: World, url: ReplyUrl, reply: Json): void {
  const original = url.original && world.messages.find(url.original.channel, url.original.ts);
  if (!original) return;
  if (original.to !== undefined && textIn(reply, 'response_type') === 'in_channel')
    world.journal.breakRule('stays_ephemeral', 'response_url: an ephemeral message never becomes public');
  world.messages.change(original, textIn(reply, 'text'), reply.blocks);
}

function removeOriginal(world: World, url: ReplyUrl): void {
  if (!url.original) throw new WebApiError('message_not_found');
  const original = world.messages.find(url.original.channel, url.original.ts);
  if (original) world.messages.remove(original);
}

const LIFETIME_MS = 30 * 60_000;
const USES = 5;

/** What a response_url refers to. */
interface ReplyUrl {
  readonly user: string;
  readonly channel: string;
  /** The message whose element was used; absent for commands. */
  readonly original: { readonly channel: string; readonly ts: string } | undefined;
  readonly madeAt: number;
  uses: number;
}

/** response_urls: 5 uses within 30 minutes each (Slack's "Handling user interaction" page). */
export function createReplyUrls(clock: SlackClock, ids: Ids, team: Team) {
  const urls = new Map<string, ReplyUrl>();
  return {
    create(user: string, channel: string, original?: ReplyUrl['original']): string {
      const path = `/reply/${team.id}/${urls.size + 1}/${ids.secret()}`;
      urls.set(path, { user, channel, original, madeAt: clock.now(), uses: 0 });
      return path;
    },

    /**
     * Counts one use; a refused post is a use, too.
     * @throws WebApiError no_service, expired_url, used_url
     */
    use(path: string): ReplyUrl {
      const url = urls.get(path);
      if (!url) throw new WebApiError('no_service');
      if (clock.now() - url.madeAt > LIFETIME_MS) throw new WebApiError('expired_url');
      if (url.uses >= USES) throw new WebApiError('used_url');
      url.uses += 1;
      return url;
    },
  };
}
