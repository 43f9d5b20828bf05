import { beforeEach, expect, test } from 'vitest';
import type { AppContext } from '../../src/context.ts';
import type { PostedMessage } from '../../src/core/ids.ts';
import { createRequestHandler, notifyRequest } from '../../src/requests/notify.ts';
import { REQUEST, ROLES_ASKED } from '../../src/requests/request.ts';
import { newRoleRequest, open, stillSystem, T0 } from '../db/support.ts';
import { makeContext } from '../support/context.ts';

const MINUTE_MS = 60_000;
const CARD: PostedMessage = { channelId: 'D1', ts: '1.1' };

let now: number;
/** How often cards were posted. */
let posts: number;
/** What cards were updated to, and what the requester was told. */
let shown: string[];
let told: string[];
/** Happens while the cards are being posted. */
let whilePosting: () => Promise<unknown>;
let ports: AppContext;
/** Requested at T0, by a process that may have died then. */
let id: string;

beforeEach(async () => {
  [now, posts, shown, told] = [T0, 0, [], []];
  whilePosting = async () => undefined;
  const system = { ...stillSystem, now: () => now };
  ports = makeContext(await open('sqlite::memory:', { system }), {
    system,
    requestNotifier: {
      postCards: async () => {
        posts++;
        await whilePosting();
        return [CARD];
      },
      updateCards: async ({ state, cards }) => shown.push(...cards.map(() => state)) >= 0,
      notifyRequester: async ({ state }) => told.push(state) > 0,
    },
    ownersOf: () => ['U9'],
  });
  ports.jobs.handle({ [REQUEST]: createRequestHandler(ports) });
  const request = newRoleRequest({ expiresAt: T0 + 60 * MINUTE_MS });
  await ports.requests.requestRole(request, T0);
  id = request.id;
});

test('an access request is not posted again if its process died before it stored that it was', async () => {
  await ports.requests.storeCards(id, [CARD]);
  now = T0 + 2 * MINUTE_MS;
  await ports.jobs.runDue();
  expect(posts).toBe(0);
  expect(await ports.requests.find(id, ROLES_ASKED)).toMatchObject({ isNotified: true });
});

test('an access request has no buttons left if it was answered while its cards were being posted', async () => {
  whilePosting = () => ports.requests.move(id, ['open'], { state: 'denied', by: 'U9', at: T0 });
  await notifyRequest(id, ports);
  expect([shown, told]).toEqual([['denied'], []]);
});
