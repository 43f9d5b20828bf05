import { expect, it, onTestFinished } from 'vitest';
import { sendWaiting, waitingWords } from '../../../src/slack/kit/notify.ts';
import { fakeRequest } from '../support/fake-request.ts';

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
