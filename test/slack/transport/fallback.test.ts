import { describe, expect, it } from 'vitest';
import { showButton } from '../../../src/servers/buttons.ts';
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
