import { beforeEach, describe, expect, it } from 'vitest';
import type { AppContext, Store } from '../../src/context.ts';
import { createRequestHandler, notifyRequest } from '../../src/requests/notify.ts';
import { REQUEST, ROLES_ASKED, type RoleRequest } from '../../src/requests/request.ts';
import { open, stillSystem, T0 } from '../db/support.ts';
import { makeContext } from '../support/context.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

let store: Store;
let now: number;
const system = { ...stillSystem, now: () => now };
let isSlackDown: boolean;
/** Whom cards were posted to, each time. */
let asked: (readonly string[])[];
/** What cards were updated to, and what the requester was told. */
let shown: string[];
let told: string[];
/** Runs while the cards are being posted. */
let whilePosting: () => Promise<unknown>;
let ports: AppContext;

beforeEach(async () => {
  now = T0;
  store = await open('sqlite::memory:', { system });
  isSlackDown = false;
  asked = [];
  shown = [];
  told = [];
  whilePosting = async () => undefined;
  ports = makeAccessPorts();
});

function makeAccessPorts(): AppContext {
  const made = makeContext(store, {
    system,
    requestNotifier: {
      postCards: async (_request, { userIds }) => {
        asked.push(userIds);
        await whilePosting();
        return isSlackDown ? [] : [{ channelId: 'D1', ts: '1.1' }];
      },
      updateCards: async ({ state, cards }) => shown.push(...cards.map(() => state)) >= 0,
      notifyRequester: async ({ state }) => {
        if (!isSlackDown) told.push(state);
        return !isSlackDown;
      },
    },
    ownersOf: () => ['U9'],
  });
  made.jobs.handle({ [REQUEST]: createRequestHandler(made) });
  return made;
}

/** Requested at T0, by a process that may have died then. */
async function left(requesterId = 'U1'): Promise<RoleRequest> {
  const role = { kind: 'role', role: 'operator', pattern: '', reason: 'to reboot' } as const;
  const times = { requestedAt: T0, expiresAt: T0 + 7 * DAY_MINUTES * MINUTE_MS };
  const id = stillSystem.newId();
  const made = await ports.requests.requestRole(
    { id, workspaceId: 'T1', requesterId, ...role, ...times },
    { since: T0, most: 9 },
  );
  if (made.kind !== 'new') throw new Error(made.kind);
  return made.request;
}

/** Does what is due so many minutes after T0. */
async function moveOnAfter(minutes: number): Promise<void> {
  now = T0 + minutes * MINUTE_MS;
  await ports.jobs.runDue();
}

const deny = ({ id }: RoleRequest, afterMinutes = 0) =>
  ports.requests.move(id, ['open'], { state: 'denied', by: 'U9', at: T0 + afterMinutes * MINUTE_MS });

describe('an access request', () => {
  it('is left for 2 s to the process that received it, and while that is posting it', async () => {
    const { id } = await left();
    await moveOnAfter(1 / 60);
    expect(asked).toEqual([]);
    const lease = { owner: 'another process', now, until: now + MINUTE_MS };
    expect(await store.jobStore.lease(REQUEST, id, lease)).toBeDefined();
    await moveOnAfter(1);
    await notifyRequest(id, ports);
    expect(asked).toEqual([]);
    await moveOnAfter(1.1);
    expect(asked).toEqual([['U9']]);
  });

  it('is not posted again if its process died before it stored that it was', async () => {
    const { id } = await left();
    await ports.requests.storeCards(id, [{ channelId: 'D1', ts: '1.1' }]);
    await moveOnAfter(2);
    expect(asked).toEqual([]);
    expect(await ports.requests.find(id, ROLES_ASKED)).toMatchObject({ isNotified: true });
  });

  it('by an owner is not posted to that owner', async () => {
    await notifyRequest((await left('U9')).id, ports);
    expect(asked).toEqual([[]]);
  });

  it('has no buttons left if it was answered while its cards were being posted', async () => {
    const request = await left();
    whilePosting = () => deny(request);
    await notifyRequest(request.id, ports);
    expect(shown).toEqual(['denied']);
    expect(told).toEqual([]);
    await notifyRequest(request.id, ports);
    expect(told).toEqual(['denied']);
  });
});

describe('the answer to an access request', () => {
  it('is sent again until Slack accepts it', async () => {
    await deny(await left());
    isSlackDown = true;
    await moveOnAfter(2);
    isSlackDown = false;
    await moveOnAfter(4);
    expect(told).toEqual(['denied']);
  });

  it('is not sent after more than a day, but the buttons are removed', async () => {
    const request = await left();
    await notifyRequest(request.id, ports);
    await deny(request);
    await moveOnAfter(DAY_MINUTES + 1);
    await moveOnAfter(DAY_MINUTES + 2);
    expect([shown, told]).toEqual([['denied'], []]);
  });
});
