import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { type Log, silentLog } from '../../../src/log.ts';
import { showButton } from '../../../src/servers/buttons.ts';
import { createEndStep } from '../../../src/slack/dispatch-events.ts';
import { plainText, withFallback } from '../../../src/slack/failures.ts';
import {
  actions,
  context,
  facts,
  header,
  type Message,
  preformatted,
  section,
  textMessage,
} from '../../../src/slack/kit/blocks.ts';
import { sendWaiting, waitingWords } from '../../../src/slack/kit/notify.ts';
import { findReplyUrl, replyByUrl, withDirectMessage } from '../../../src/slack/reply.ts';
import type { SlackAnswer } from '../../../src/slack/slack-api.ts';
import { fakeRequest } from '../support/fake-request.ts';
import { clientsOf, partialSlack } from '../support/partial-slack.ts';

const ACTOR = { userId: 'U1', channelId: 'C1' };
const WAYS = ['response_url', 'chat.postEphemeral', 'chat.postMessage'] as const;
type Way = (typeof WAYS)[number];

/** A reply over a Slack in which these ways work, and what was sent by which way. */
function replyOver(open: readonly Way[], { error = 'internal_error', saysOk = true } = {}) {
  const sent: [Way, string][] = [];
  const warnings: string[] = [];
  const take = <More>(way: Way, body: unknown, more: More): SlackAnswer<More> => {
    sent.push([way, JSON.stringify(body)]);
    return open.includes(way) ? { ok: true, ...more } : { ok: false, error };
  };
  const slack = partialSlack({
    respond: async (_url, body) => take('response_url', body, { saysOk }),
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
  it.each([
    [1, WAYS.slice(0, 1)],
    [2, WAYS.slice(0, 2)],
    [3, WAYS],
  ])('is sent the next way until one works (%i)', async (count, ways) => {
    const { reply, ways: used, warnings } = replyOver(WAYS.slice(count - 1));
    expect(await reply.send(hello)).toBe(true);
    expect(used()).toEqual(ways);
    expect(warnings).toEqual([]);
  });

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

  it('that holds a root password counts as not shown when Slack refuses its blocks', async () => {
    const { reply, sent } = replyOver([], { error: 'invalid_blocks' });
    expect(await reply.send(secret)).toBe(false);
    for (const [, body] of sent) {
      const { text } = JSON.parse(body);
      expect(text).not.toContain('the-root-password');
    }
  });
});

describe('an announcement', () => {
  it('goes to the channel, never as a direct message', async () => {
    const { reply, sent } = replyOver(['chat.postMessage']);
    expect(await reply.announce(hello)).toBe(true);
    expect(sent.map(([way]) => way)).toEqual(['response_url', 'chat.postMessage']);
    const none = replyOver([]);
    expect(await none.reply.announce(hello)).toBe(false);
    expect(none.warnings).toEqual([]);
  });
});

describe('a response_url', () => {
  const SLACK = 'https://slack.com/api/';
  const EMULATOR = 'http://127.0.0.1:8080/api/';

  it.each([
    ['https://hooks.slack.com/commands/T1/1/x', SLACK],
    ['https://hooks.slack-gov.com/commands/T1/1/x', SLACK],
    ['http://localhost:9090/reply/T1/1/x', EMULATOR],
  ])('of Slack, or of an emulator on the machine of SLACK_API_URL, is used: %s', (url, apiUrl) => {
    expect(findReplyUrl(url, apiUrl)?.reveal()).toBe(url);
  });

  it.each([
    ['https://example.com/commands/T1/1/x', SLACK],
    ['https://hooks.slack.com.example.com/x', SLACK],
    ['https://notslack.com/x', SLACK],
    ['https://hooks.slack.com@example.com/x', SLACK],
    ['http://hooks.slack.com/commands/T1/1/x', SLACK],
    ['http://169.254.169.254/latest/meta-data', SLACK],
    ['http://localhost:9090/x', SLACK],
    ['http://10.0.0.1:8080/x', EMULATOR],
    ['file:///etc/passwd', SLACK],
    ['hooks.slack.com', SLACK],
  ])('on another host is never used: %s', (url, apiUrl) => {
    expect(findReplyUrl(url, apiUrl)).toBeUndefined();
  });
});

/** Sends to a Slack that refuses messages with that error for as long as `takes` says no. */
async function sendTo(message: Message, error: string, takes: (message: Message) => boolean) {
  const sent: Message[] = [];
  const answer = await withFallback(message, async (shown) => {
    sent.push(shown);
    return takes(shown) ? { ok: true } : { ok: false, error };
  });
  return { answer, sent };
}

const isPlain = ({ blocks }: Message) => blocks.length === 0;

describe('a message whose blocks Slack refuses', () => {
  it.each([
    'invalid_blocks',
    'invalid_blocks_format',
    'msg_blocks_too_long',
  ])('goes out at once as plain text: %s', async (error) => {
    const { answer, sent } = await sendTo(textMessage('web-1 was stopped.'), error, isPlain);
    expect(answer).toEqual({ ok: true });
    expect(sent.at(-1)).toEqual({ text: 'web-1 was stopped.', blocks: [] });
    expect(sent).toHaveLength(2);
  });

  it('is first sent with its plainer blocks', async () => {
    const message = { ...textMessage('new'), plainBlocks: [section('old')] };
    const { sent } = await sendTo(message, 'invalid_blocks', isPlain);
    expect(sent.map(({ blocks }) => blocks)).toEqual([message.blocks, message.plainBlocks, []]);
    expect(sent.at(-1)?.text).toBe('old');
  });

  it('is not sent as text when Slack refuses something else', async () => {
    const { answer, sent } = await sendTo(textMessage('x'), 'not_in_channel', () => false);
    expect(answer).toEqual({ ok: false, error: 'not_in_channel' });
    expect(sent).toHaveLength(1);
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

  it('is its short text where its blocks have no words', () => {
    expect(plainText({ text: 'short', blocks: [] })).toBe('short');
  });

  it('fits into one message of Slack', () => {
    const blocks = Array.from({ length: 50 }, () => section('x'.repeat(500)));
    expect(plainText({ text: 'x', blocks }).length).toBeLessThanOrEqual(3000);
  });
});

const LIMIT = 'We’ve hit the hosting API’s rate limit.';

it.each([
  [undefined, 'Your request is queued and will run automatically.'],
  [
    { position: 12, estimateMs: 38_200, givesUpInMs: 85_000 },
    'Your request is number 12 in the queue and will run automatically. Estimated wait: about 40 s.',
  ],
  [
    { position: 1, estimateMs: 200 },
    'Your request is next in the queue and will run automatically. Estimated wait: about 5 s.',
  ],
  [{ position: 3, givesUpInMs: 85_000 }, 'Your request is number 3 in the queue and will run automatically.'],
  [{ estimateMs: 40_000 }, 'Your request is queued and will run automatically. Estimated wait: about 40 s.'],
  [
    { position: 400, estimateMs: 100_000, givesUpInMs: 85_000 },
    'Your request is number 400 in the queue, and its turn will probably come too late: requests that wait longer than 90 s aren’t sent.',
  ],
])('a wait is described with no more than what is known of it: %j', (wait, words) => {
  expect(waitingWords(wait)).toBe(`${LIMIT} ${words}`);
});

it('a notice of a wait that can’t be sent causes no unhandled rejection', async () => {
  const rejections: unknown[] = [];
  const keep = (error: unknown) => void rejections.push(error);
  process.on('unhandledRejection', keep);
  onTestFinished(() => void process.off('unhandledRejection', keep));
  const request = fakeRequest();
  const send = () => Promise.reject(new Error('the way back is in a database that is away'));
  sendWaiting({ ...request, reply: { ...request.reply, send } })({});
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(rejections).toEqual([]);
});

const STEP = { workspaceId: 'T1', executionId: 'Fx1' };
const OUTPUTS = { outputs: { message: 'done', server: 'web-1', state: 'running' } };

/** What Slack answers to the token of the run, and to the app's own one. */
const endWith = (ofRun: string, own: string, token = true) => {
  const slack = (error: string) => ({ completeStep: async () => ({ ok: false, error }) as const });
  const end = createEndStep({ open: () => partialSlack(slack(ofRun)) }, clientsOf(slack(own)));
  return end({ ...STEP, token: token ? new Secret('xwfp-1') : undefined }, OUTPUTS);
};

it('a workflow’s step that isn’t found with the app’s own token is retried, since the run’s token may still end it', async () => {
  expect(await endWith('ratelimited', 'function_execution_not_found')).toBe('later');
  expect(await endWith('ECONNRESET', 'function_execution_not_found')).toBe('later');
});

it('a workflow’s step that Slack doesn’t find with any token is given up', async () => {
  expect(await endWith('function_execution_not_found', 'function_execution_not_found')).toBe('told');
  expect(await endWith('', 'function_execution_not_found', false)).toBe('told');
  expect(await endWith('token_expired', 'function_execution_not_found')).toBe('told');
  expect(await endWith('function_execution_not_found', 'internal_error')).toBe('later');
});
