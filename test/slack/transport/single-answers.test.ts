import { expect, it } from 'vitest';
import { textMessage } from '../../../src/slack/kit/blocks.ts';
import { createSingleAnswers } from '../../../src/slack/transport/single-answers.ts';
import type { SlackAnswer } from '../../../src/slack/transport/slack-api.ts';
import { clientsOf } from '../support/partial-slack.ts';

const HELLO = textMessage('The app was interrupted.');
const IN_CHANNEL = { workspaceId: 'T1', userId: 'U1', channelId: 'C1', kind: 'mention' } as const;
const DIRECT = { ...IN_CHANNEL, channelId: 'D1', kind: 'direct_message' } as const;

/** Answers once, in a Slack that gives these answers to an ephemeral message and to any other. */
async function answer(
  to: Parameters<ReturnType<typeof createSingleAnswers>['answerOnce']>[0],
  ephemerally: SlackAnswer,
  directly: string | undefined = undefined,
) {
  const sent: (string | undefined)[][] = [];
  const { answerOnce } = createSingleAnswers(
    clientsOf({
      postEphemeral: async (channel, user, _message, threadTs) => {
        sent.push([channel, user, threadTs]);
        return ephemerally;
      },
      post: async (channelId, _message, threadTs) => {
        sent.push([channelId, threadTs]);
        return directly === undefined ? { ok: true, channelId, ts: '2' } : { ok: false, error: directly };
      },
    }),
  );
  return { answered: await answerOnce(to, HELLO), sent };
}

const OK = { ok: true } as const;
const refused = (error: string, retryAfterMs?: number) => ({ ok: false, error, retryAfterMs }) as const;

it('a mention is answered where it was read: in its thread, if that has replies', async () => {
  expect(await answer(IN_CHANNEL, OK)).toEqual({ answered: 'done', sent: [['C1', 'U1', undefined]] });
  const inThread = { ...IN_CHANNEL, thread: { ts: '1', isOpen: true } };
  expect((await answer(inThread, OK)).sent).toEqual([['C1', 'U1', '1']]);
  const below = { ...IN_CHANNEL, thread: { ts: '1', isOpen: false } };
  expect((await answer(below, OK)).sent).toEqual([['C1', 'U1', undefined]]);
});

it('a mention is answered directly where Slack doesn’t let the app answer in the channel', async () => {
  const { answered, sent } = await answer(IN_CHANNEL, refused('user_not_in_channel'));
  expect([answered, sent.at(-1)]).toEqual(['done', ['U1', undefined]]);
  const nowhere = await answer(IN_CHANNEL, refused('not_in_channel'), 'messages_tab_disabled');
  expect(nowhere.answered).toBe('refused');
});

it('a direct message is answered in the conversation', async () => {
  expect(await answer(DIRECT, OK)).toEqual({ answered: 'done', sent: [['D1', undefined]] });
  const thread = { ts: '1', isOpen: true };
  expect((await answer({ ...DIRECT, thread }, OK)).sent).toEqual([['D1', '1']]);
  expect((await answer(DIRECT, OK, 'ratelimited')).answered).toBe('refused');
});

it('what Slack takes later waits for that, and isn’t sent elsewhere', async () => {
  const { answered, sent } = await answer(IN_CHANNEL, refused('ratelimited', 30_000));
  expect([answered, sent]).toEqual(['refused', [['C1', 'U1', undefined]]]);
});

it.each([
  'TimeoutError',
  'ECONNRESET',
  'internal_error',
])('what may have been shown is not shown again: %s', async (error) => {
  const { answered, sent } = await answer(IN_CHANNEL, refused(error));
  expect([answered, sent]).toEqual(['done', [['C1', 'U1', undefined]]]);
  expect((await answer(DIRECT, OK, error)).answered).toBe('done');
});
