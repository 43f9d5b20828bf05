import { describe, expect, it } from 'vitest';
import type { Card } from '../../../src/requests/request.ts';
import { type Message, section, textMessage } from '../../../src/slack/kit/blocks.ts';
import { editCards, postCards } from '../../../src/slack/outbox.ts';
import type { SlackAnswer } from '../../../src/slack/slack-api.ts';
import { partialSlack } from '../support/partial-slack.ts';

const hello = textMessage('@nora is requesting access');
const native: Message = { text: 'x', blocks: [section('new')], plainBlocks: [section('old')] };
const REFUSED = { ok: false, error: 'message_not_found' } as const;

/** A Slack that posts what `takes` lets through, and notes what was sent to whom. */
function slackThat(takes: (to: string, message: Message) => boolean = () => true) {
  const sent: [to: string, message: Message][] = [];
  const take = <More>(to: string, message: Message, more: More): SlackAnswer<More> => {
    sent.push([to, message]);
    return takes(to, message) ? { ok: true, ...more } : REFUSED;
  };
  const slack = partialSlack({
    post: async (to, message) => take(to, message, { channelId: `D${to}`, ts: `${sent.length + 1}.0` }),
    updateMessage: async ({ channelId, ts }, message) => take(`${channelId} ${ts}`, message, {}),
  });
  return { sent, slack, recipients: () => sent.map(([to]) => to) };
}

describe('cards', () => {
  it('are posted to each recipient once, and identified by channel and timestamp', async () => {
    const { slack, recipients } = slackThat();
    expect(await postCards(['U1', 'U2', 'U1'], hello, slack)).toEqual([
      { channelId: 'DU1', ts: '1.0' },
      { channelId: 'DU2', ts: '2.0' },
    ]);
    expect(recipients()).toEqual(['U1', 'U2']);
  });

  it('are posted to at most ten recipients', async () => {
    const { slack } = slackThat();
    const all = Array.from({ length: 30 }, (_, number) => `U${number}`);
    expect((await postCards(all, hello, slack)).length).toBe(10);
  });

  it('leave out recipients that can’t be reached; no recipient at all is no error', async () => {
    const { slack } = slackThat((to) => to !== 'U1');
    expect(await postCards(['U1', 'U2'], hello, slack)).toEqual([{ channelId: 'DU2', ts: '2.0' }]);
    expect(await postCards(['U1'], hello, slack)).toEqual([]);
    expect(await postCards([], hello, slack)).toEqual([]);
  });

  it('are tried once more without the block that Slack refuses', async () => {
    const { slack, sent } = slackThat((_to, { blocks }) => JSON.stringify(blocks).includes('old'));
    expect(await postCards(['U1'], native, slack)).toEqual([{ channelId: 'DU1', ts: '2.0' }]);
    await editCards([{ channelId: 'D1', ts: '1' }], native, slack);
    expect(sent.map(([, { blocks }]) => blocks)).toEqual([
      native.blocks,
      native.plainBlocks,
      native.blocks,
      native.plainBlocks,
    ]);
  });

  it('are all sent at once, so that a slow one doesn’t delay the others', async () => {
    const waiting: ((card: SlackAnswer<Card>) => void)[] = [];
    const slack = partialSlack({ post: () => new Promise((resolve) => waiting.push(resolve)) });
    const posted = postCards(['U1', 'U2', 'U3'], hello, slack);
    expect(waiting.length).toBe(3);
    for (const resolve of waiting) resolve({ ok: true, channelId: 'D', ts: '1' });
    expect((await posted).length).toBe(3);
  });

  it('are edited in place, even if one is gone', async () => {
    const { slack, recipients } = slackThat((to) => to !== 'D1 1');
    const cards = [
      { channelId: 'D1', ts: '1' },
      { channelId: 'D2', ts: '2' },
    ];
    await editCards(cards, hello, slack);
    expect(recipients()).toEqual(['D1 1', 'D2 2']);
  });
});
