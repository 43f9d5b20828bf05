import { beforeEach, expect, test } from 'vitest';
import type { AppContext } from '../../src/context.ts';
import type { PostedMessage } from '../../src/core/ids.ts';
import { createRequestHandler, notifyRequest } from '../../src/requests/notify.ts';
import { REQUEST, ROLES_ASKED } from '../../src/requests/request.ts';
import { newRoleRequest, open, stillSystem, T0 } from '../db/support.ts';
import { makeContext } from '../support/context.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const CARD: PostedMessage = { channelId: 'D1', ts: '1.1' };

let now: number;
/** Whom cards were posted to, each time. */
let asked: (readonly string[])[];
/** What cards were updated to, and what the requester was told. */
let shown: string[];
let told: string[];
/** Where cards arrive. */
let postedTo: readonly PostedMessage[];
/** Happens while the cards are being posted. */
let whilePosting: () => Promise<unknown>;
let ports: AppContext;

beforeEach(async () => {
  [now, asked, shown, told] = [T0, [], [], []];
  postedTo = [CARD];
  whilePosting = async () => undefined;
  const system = { ...stillSystem, now: () => now };
  ports = makeContext(await open('sqlite::memory:', { system }), {
    system,
    requestNotifier: {
      postCards: async (_request, { userIds }) => {
        asked.push(userIds);
        await whilePosting();
        return postedTo;
      },
      updateCards: async ({ state, cards }) => shown.push(...cards.map(() => state)) >= 0,
      notifyRequester: async ({ state }) => told.push(state) > 0,
    },
    ownersOf: () => ['U9'],
  });
  ports.jobs.handle({ [REQUEST]: createRequestHandler(ports) });
});

/** Requested at T0, by a process that may have died then. */
async function left(requesterId = 'U1'): Promise<string> {
  const request = newRoleRequest({ requesterId, expiresAt: T0 + 7 * DAY_MINUTES * MINUTE_MS });
  await ports.requests.requestRole(request, T0);
  return request.id;
}

const deny = (id: string) => ports.requests.move(id, ['open'], { state: 'denied', by: 'U9', at: T0 });

/** Does what is due so many minutes after T0. */
async function moveOnAfter(minutes: number): Promise<void> {
  now = T0 + minutes * MINUTE_MS;
  await ports.jobs.runDue();
}

test('an access request is not posted again if its process died before it stored that it was', async () => {
  const id = await left();
  await ports.requests.storeCards(id, [CARD]);
  await moveOnAfter(2);
  expect(asked).toEqual([]);
  expect(await ports.requests.find(id, ROLES_ASKED)).toMatchObject({ isNotified: true });
});

test('an access request has no buttons left if it was answered while its cards were being posted', async () => {
  const id = await left();
  whilePosting = () => deny(id);
  await notifyRequest(id, ports);
  expect([shown, told]).toEqual([['denied'], []]);
});

test('the answer to an access request is not sent after more than a day, but the buttons are removed', async () => {
  const id = await left();
  await notifyRequest(id, ports);
  await deny(id);
  await moveOnAfter(DAY_MINUTES + 1);
  await moveOnAfter(DAY_MINUTES + 2);
  expect([shown, told]).toEqual([['denied'], []]);
});
