import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { type Log, silentLog } from '../../../src/log.ts';
import { type Message, preformatted, textMessage } from '../../../src/slack/kit/blocks.ts';
import { findReplyUrl, replyByUrl, withDirectMessage } from '../../../src/slack/reply.ts';
import type { SlackAnswer } from '../../../src/slack/slack-api.ts';
import { partialSlack } from '../support/partial-slack.ts';

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
