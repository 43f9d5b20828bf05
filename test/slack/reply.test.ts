import { describe, expect, it, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { showButton } from '../../src/servers/buttons.ts';
import type { Channels } from '../../src/slack/directory.ts';
import { createNewestFirst } from '../../src/slack/home-publisher.ts';
import {
  actions,
  context,
  facts,
  header,
  type Message,
  preformatted,
  section,
  textMessage,
} from '../../src/slack/kit/blocks.ts';
import { createEdits } from '../../src/slack/outbox.ts';
import { plainText, withFallback } from '../../src/slack/refusals.ts';
import { findReplyUrl, replyByUrl, sendWaiting, withDirectMessage } from '../../src/slack/reply.ts';
import type { SlackAnswer, SlackApi } from '../../src/slack/slack-api.ts';
import { clientsOf, fakeRequest, gate, handClock, partialSlack, turn } from './support/fakes.ts';

const ACTOR = { userId: 'U1', channelId: 'C1' };
const WAYS = ['response_url', 'chat.postEphemeral', 'chat.postMessage'] as const;
type Way = (typeof WAYS)[number];

/** A reply over a Slack in which these ways work, and what was sent by which way. */
function replyOver(open: readonly Way[], { saysOk = true } = {}) {
  const sent: [Way, string][] = [];
  const warnings: string[] = [];
  const take = <More>(way: Way, body: unknown, more: More): SlackAnswer<More> => {
    sent.push([way, JSON.stringify(body)]);
    return open.includes(way) ? { ok: true, ...more } : { ok: false, error: 'internal_error' };
  };
  const slack = partialSlack({
    respond: async (_url, _options, message) => take('response_url', message, { saysOk }),
    postEphemeral: async (_channel, _user, message) => take('chat.postEphemeral', message, {}),
    post: async (to, message) => take('chat.postMessage', message, { channelId: to, ts: '1' }),
  });
  const log: Log = { ...silentLog, warn: (words) => void warnings.push(words) };
  const reply = withDirectMessage(
    replyByUrl(new Secret('https://hooks.slack.com/x'), ACTOR, slack),
    ACTOR,
    slack,
    log,
  );
  return { reply, sent, warnings, ways: () => sent.map(([way]) => way) };
}

const hello = textMessage('web-1 was stopped.');
const secret: Message = textMessage('web-1', preformatted('the-root-password'));

describe('an answer to a command or a button', () => {
  it('is sent as a new message if the button’s message can’t be replaced', async () => {
    const { reply, ways } = replyOver(['chat.postEphemeral']);
    expect(await reply.replace(hello)).toBe(true);
    expect(ways()).toEqual(['response_url', 'chat.postEphemeral']);
  });

  it('is logged without its text if Slack refuses every way', async () => {
    const { reply, warnings } = replyOver([]);
    expect(await reply.send(hello)).toBe(false);
    expect(warnings).toHaveLength(1);
    expect(warnings.join()).not.toContain('web-1');
  });

  it('that holds a root password is never sent as a direct message; the user is told that it was not shown', async () => {
    const { reply, sent } = replyOver(['chat.postMessage']);
    expect(await reply.send(secret)).toBe(false);
    const direct = sent.filter(([way]) => way === 'chat.postMessage');
    expect(direct).toHaveLength(1);
    expect(direct.join()).not.toContain('the-root-password');
    expect(direct.join()).toContain('Slack didn’t confirm that it showed you the root password');
  });

  it('that holds a root password is also sent the next way if the response_url answers without an ok', async () => {
    const silent = { saysOk: false };
    const { reply, ways } = replyOver(['response_url', 'chat.postEphemeral'], silent);
    expect(await reply.send(secret)).toBe(true);
    expect(ways()).toEqual(['response_url', 'chat.postEphemeral']);
    expect(await replyOver(['response_url'], silent).reply.send(secret)).toBe(false);
    const other = replyOver(WAYS, silent);
    expect(await other.reply.send(hello)).toBe(true);
    expect(other.ways()).toEqual(['response_url']);
  });
});

it('an announcement goes to the channel, never as a direct message', async () => {
  const { reply, sent } = replyOver(['chat.postMessage']);
  expect(await reply.announce(hello)).toBe(true);
  expect(sent.map(([way]) => way)).toEqual(['response_url', 'chat.postMessage']);
  const none = replyOver([]);
  expect(await none.reply.announce(hello)).toBe(false);
  expect(none.warnings).toEqual([]);
});

describe('a response_url', () => {
  const SLACK = 'https://slack.com/api/';
  const EMULATOR = 'http://127.0.0.1:8080/api/';

  it.each([
    ['https://hooks.slack.com/commands/T1/1/x', SLACK],
    ['http://localhost:9090/reply/T1/1/x', EMULATOR],
  ])('of Slack, or of an emulator on the machine of SLACK_API_URL, is used: %s', (url, apiUrl) => {
    expect(findReplyUrl(url, apiUrl)?.reveal()).toBe(url);
  });

  it.each([
    ['https://example.com/commands/T1/1/x', SLACK],
    ['https://hooks.slack.com.example.com/x', SLACK],
    ['https://notslack.com/x', SLACK],
    ['http://localhost:9090/x', SLACK],
    ['https://hooks.slack.com@example.com/x', SLACK],
    ['http://hooks.slack.com/commands/T1/1/x', SLACK],
    ['http://169.254.169.254/latest/meta-data', SLACK],
    ['http://10.0.0.1:8080/x', EMULATOR],
    ['ftp://localhost:4001/x', EMULATOR],
    ['hooks.slack.com', SLACK],
  ])('on another host is never used: %s', (url, apiUrl) => {
    expect(findReplyUrl(url, apiUrl)).toBeUndefined();
  });
});

/** Sends to a Slack that refuses messages with that error for as long as `takes` says no. */
async function sendTo(message: Message, error: string, takes: (message: Message) => boolean) {
  const sent: Message[] = [];
  const answer = await withFallback(message, async (text, blocks) => {
    const shown = { text, blocks };
    sent.push(shown);
    return takes(shown) ? { ok: true } : { ok: false, error };
  });
  return { answer, sent };
}

const isPlain = ({ blocks }: Message) => blocks.length === 0;

describe('a message whose blocks Slack refuses', () => {
  it('is first sent with its plainer blocks', async () => {
    const message = { ...textMessage('new'), plainBlocks: [section('old')] };
    const { sent } = await sendTo(message, 'invalid_blocks', isPlain);
    expect(sent.map(({ blocks }) => blocks)).toEqual([message.blocks, message.plainBlocks, []]);
    expect(sent.at(-1)?.text).toBe('old');
  });

  it('never becomes text when it holds a secret', async () => {
    const message = textMessage('web-1', preformatted('the-root-password'));
    const { answer, sent } = await sendTo(message, 'invalid_blocks', isPlain);
    expect(answer.ok).toBe(false);
    expect(sent).toEqual([message]);
  });
});

describe('the plain text of a message', () => {
  it('holds its text without buttons, with plain text escaped', () => {
    const message: Message = {
      text: 'short',
      blocks: [
        header('Servers <!channel>'),
        section('*web-1* &amp; web-2'),
        facts([['State', 'running']]),
        context('2 servers'),
        actions(showButton.element('Show', { id: 1 })),
      ],
    };
    const text = plainText(message);
    expect(text).toBe('Servers &lt;!channel&gt;\n*web-1* &amp; web-2\n*State*\nrunning\n2 servers');
  });
});

it('a notice of a wait that can’t be sent causes no unhandled rejection', async () => {
  const rejections: unknown[] = [];
  const keep = (error: unknown) => void rejections.push(error);
  process.on('unhandledRejection', keep);
  onTestFinished(() => void process.off('unhandledRejection', keep));
  const request = fakeRequest();
  const send = () => Promise.reject(new Error('the way back is in a database that is away'));
  sendWaiting({ ...request, reply: { ...request.reply, send } })();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(rejections).toEqual([]);
});

test('only the newest of the updates that wait for another one is shown', async () => {
  const line = createNewestFirst(handClock().system);
  const shown: string[] = [];
  const first = gate();
  const show = (name: string) => async () => shown.push(name) > 0;
  void line.run('U1', () => first.pass().then(show('first')), 0);
  await turn();
  const waiting = ['second', 'third', 'last'].map((name) => line.run('U1', show(name), 0));
  void line.run('U2', show('another user’s'), 0);
  await turn();
  expect(shown).toEqual(['another user’s']);
  first.open();
  expect(await Promise.all(waiting)).toEqual([true, true, true]);
  expect(shown).toEqual(['another user’s', 'first', 'last']);
});

const CARD = { channelId: 'C1', ts: '1.2' };
const HELLO = { text: 'hello', blocks: [] };

/** A Slack that answers edits as it is told. */
function openEdits(state: { isShared?: boolean | undefined; announces?: boolean } = { isShared: false }) {
  const world = { answer: { ok: true } as SlackAnswer, edits: 0, waited: 0 };
  const updateMessage: SlackApi['updateMessage'] = async (_card, _message, isPatient) => {
    world.edits += 1;
    if (isPatient !== false) world.waited += 1;
    return world.answer;
  };
  const { editAnnouncement } = createEdits({
    clients: clientsOf({ updateMessage }),
    channels: { isShared: async () => state.isShared } as unknown as Channels,
    mayAnnounce: async () => state.announces ?? state.isShared === false,
  });
  return { world, state, edit: () => editAnnouncement('T1', CARD, HELLO) };
}

test('a message is no longer edited in a shared channel, or once owners have turned announcements off', async () => {
  for (const state of [{ isShared: true }, { isShared: false, announces: false }]) {
    const { world, edit } = openEdits(state);
    expect(await edit()).toEqual({ kind: 'gone' });
    expect(world.edits).toBe(0);
  }
});

test('an edit is retried, and not sent, while Slack doesn’t say whether the channel is shared', async () => {
  const { world, edit } = openEdits({ isShared: undefined });
  expect(await edit()).toMatchObject({ kind: 'later' });
  expect(world.edits).toBe(0);
});

test('an edit in the background doesn’t wait for Slack’s rate limit, but is retried as soon as Slack allows', async () => {
  const { world, edit } = openEdits();
  world.answer = { ok: false, error: 'ratelimited', retryAfterMs: 30_000 };
  expect(await edit()).toEqual({ kind: 'later', afterMs: 30_000 });
  world.answer = { ok: true };
  expect(await edit()).toEqual({ kind: 'shown' });
  expect(world).toMatchObject({ edits: 2, waited: 0 });
});
