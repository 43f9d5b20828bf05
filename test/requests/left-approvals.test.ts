import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AppContext, Store } from '../../src/context.ts';
import type { StoredEntry } from '../../src/core/audit-entry.ts';
import { openStore } from '../../src/db/open-store.ts';
import { createRequestHandler } from '../../src/requests/notify.ts';
import {
  APPROVALS,
  type Approval,
  type ApprovalAction,
  REQUEST,
  type RequestState,
} from '../../src/requests/request.ts';
import { entry, newApproval, newDelete, stillSystem, T0, vault } from '../db/fixtures.ts';
import { makeContext } from '../support/context.ts';

const MINUTE_MS = 60_000;

let store: Store;
let now: number;
const system = { ...stillSystem, now: () => now };
let told: RequestState[];
let asked: number;
/** The request whose cards can't be updated, because of a defect. */
let brokenId: string;

beforeEach(async () => {
  now = T0;
  store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system });
  await store.workspaces.put({ id: 'T1', name: 'Team' }, T0);
  told = [];
  asked = 0;
  brokenId = '';
});

afterEach(async () => {
  await store.close();
});

function makeApprovalPorts(): AppContext {
  return makeContext(store, {
    system,
    requestNotifier: {
      postCards: async () => {
        asked += 1;
        return [{ channelId: 'D1', ts: '1.1' }];
      },
      updateCards: async ({ id }) => {
        if (id === brokenId) throw new Error('a defect');
        return true;
      },
      notifyRequester: async ({ state }) => told.push(state) > 0,
    },
    ownersOf: () => ['U9'],
  });
}

/** An approval that was requested at T0. */
async function left(action: ApprovalAction = newDelete(7)): Promise<Approval> {
  const { approval } = await store.requests.requestApproval(newApproval(action), entry());
  return approval;
}

/** Does what is due so many minutes after T0, as a process that starts then. */
async function moveOnAfter(minutes: number): Promise<void> {
  now = T0 + minutes * MINUTE_MS;
  const ports = makeApprovalPorts();
  ports.jobs.handle({ [REQUEST]: createRequestHandler(ports) });
  await ports.jobs.runDue();
}

const stateOf = async ({ id }: Approval) => (await store.requests.find(id, APPROVALS))?.state;
const audited = async () => {
  const entries: readonly StoredEntry[] = await store.audit.list({ workspaceId: 'T1', limit: 100 });
  return entries.map(({ action, outcome, code }) => [action, outcome, code].filter(Boolean).join(' '));
};

describe('an approval that was not decided', () => {
  it('expires after an hour, once', async () => {
    const approval = await left();
    await moveOnAfter(59.9);
    expect(await stateOf(approval)).toBe('open');
    await moveOnAfter(60);
    await moveOnAfter(61);
    expect(await stateOf(approval)).toBe('expired');
    expect(told).toEqual(['open', 'expired']);
    expect((await audited())[0]).toBe('approval_answer failed expired');
  });
});

describe('the cards of an approval', () => {
  it('are not posted again if the process died before it stored that', async () => {
    const { id } = await left();
    await store.requests.storeCards(id, [{ channelId: 'D1', ts: '1.1' }]);
    await moveOnAfter(2);
    expect(asked).toBe(0);
    expect(await store.requests.find(id, APPROVALS)).toMatchObject({ isNotified: true });
  });
});

describe('the outcome of an approval', () => {
  it('is sent even if another approval fails', async () => {
    const ids = [newDelete(8), newDelete(9)].map(async (action) => (await left(action)).id);
    const [broken = '', id = ''] = await Promise.all(ids);
    for (const each of [broken, id]) await store.requests.move(each, ['open'], { state: 'denied', at: T0 });
    brokenId = broken;
    await moveOnAfter(2);
    expect(told).toEqual(['denied']);
    expect(await store.requests.find(broken, APPROVALS)).toMatchObject({ isNotified: false });
  });
});
