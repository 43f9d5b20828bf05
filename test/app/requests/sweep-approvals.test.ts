import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AppContext, Store } from '../../../src/context.ts';
import type { StoredEntry } from '../../../src/core/audit-entry.ts';
import { HostingError, Refusal } from '../../../src/core/errors.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { Server } from '../../../src/core/server.ts';
import { openStore } from '../../../src/db/open-store.ts';
import type { HostingApi } from '../../../src/hosting/hosting-api.ts';
import { lockOfDelete, resumeDelete } from '../../../src/requests/answer-approval.ts';
import { sweepRequests } from '../../../src/requests/notify.ts';
import {
  APPROVALS,
  type Approval,
  type ApprovalAction,
  type RequestState,
} from '../../../src/requests/request.ts';
import type { FollowPayload } from '../../../src/servers/follow-store.ts';
import { entry, newApproval, newDelete, stillSystem, T0, vault } from '../../store/fixtures.ts';
import { makePorts } from '../support/make-ports.ts';

const MINUTE_MS = 60_000;

let store: Store;
let now: number;
let servers: Server[];
let deleted: number[];
/** What the next calls of the hosting API do instead of answering. */
let fault: (() => Error) | undefined;
/** How a delete fails. */
let deleteFault: Error | undefined;
let isSlackDown: boolean;
/** Whether Slack has not answered about the requester. */
let isUnsure: boolean;
/** What the answer to a delete says; the server is gone only if that is `deleted`. */
let deletedState: string;
let isListComplete: boolean;
/** The list after a delete lacks the server, and a page. */
let isCutAfterDelete: boolean;
let shown: RequestState[];
let told: RequestState[];
let asked: number;

beforeEach(async () => {
  store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system: stillSystem });
  await store.workspaces.put({ id: 'T1', name: 'Team' }, T0);
  await store.apiKeys.put('T1', new Secret('key'), 'U9', T0 - 1);
  await give('manager');
  now = T0;
  servers = [{ id: 7, label: 'web-1', state: 'running' }];
  deleted = [];
  fault = undefined;
  deleteFault = undefined;
  isSlackDown = false;
  isUnsure = false;
  deletedState = 'deleted';
  isListComplete = true;
  isCutAfterDelete = false;
  shown = [];
  told = [];
  asked = 0;
});

afterEach(async () => {
  await store.close();
});

async function give(role: 'manager' | 'viewer'): Promise<void> {
  const subject = { subjectKind: 'user', subjectId: 'U1' } as const;
  await store.grants.put({
    workspaceId: 'T1',
    ...subject,
    role,
    pattern: '',
    grantedBy: 'U9',
    grantedAt: T0,
  });
}

function makeHosting(): HostingApi {
  const answer =
    <Answer>(work: () => Answer) =>
    async () => {
      if (fault) throw fault();
      return work();
    };
  const unused = () => {
    throw new Error('not in these tests');
  };
  return {
    account: ['a'],
    fetchCatalog: unused,
    createServer: unused,
    renewServer: unused,
    changePower: unused,
    budget: unused,
    fetchServers: answer(() => ({ servers, extent: isListComplete ? 'whole' : 'part', unreadableCount: 0 })),
    deleteServer: async (id) => {
      deleted.push(id);
      if (deleteFault) throw deleteFault;
      return answer(() => {
        if (isCutAfterDelete) isListComplete = false;
        if (isCutAfterDelete || deletedState === 'deleted')
          servers = servers.filter((server) => server.id !== id);
        return deletedState === 'deleted';
      })();
    },
  };
}

function makeApprovalPorts(): AppContext {
  return makePorts(store, {
    system: { ...stillSystem, now: () => now },
    users: { find: async () => undefined, exists: async () => (isUnsure ? 'unknown' : 'hidden') },
    requestNotifier: {
      postCards: async () => {
        asked += 1;
        return isSlackDown ? [] : [{ channelId: 'D1', ts: '1.1' }];
      },
      updateCards: async ({ state }) => shown.push(state) > 0,
      notifyRequester: async ({ state }) => {
        if (!isSlackDown) told.push(state);
        return !isSlackDown;
      },
    },
    hostingOf: makeHosting,
    ownersOf: () => ['U9'],
  });
}

/** An approval that was requested at T0, and left at this state so many minutes later. */
async function left(
  state: 'open' | 'approved' | 'running',
  afterMinutes = 0,
  action: ApprovalAction = newDelete(7),
): Promise<Approval> {
  const { approval } = await store.requests.requestApproval(newApproval(action), entry());
  const at = T0 + afterMinutes * MINUTE_MS;
  if (state !== 'open') await store.requests.approve(approval.id, { by: 'U9', at }, entry());
  if (state === 'running') await store.requests.move(approval.id, ['approved'], { state, at });
  return approval;
}

/** Sweeps as a process that starts so many minutes after T0. */
async function sweepAfter(minutes: number, startedAfter = minutes): Promise<void> {
  now = T0 + minutes * MINUTE_MS;
  await sweepRequests(makeApprovalPorts(), T0 + startedAfter * MINUTE_MS, resumeDelete);
}

/** Another process is sending the approved delete. */
async function holdAsOther({ id }: Approval) {
  const lock = { name: lockOfDelete(id), owner: 'another process' };
  expect(await store.lockLeases.take(lock, 30_000)).toBe(true);
  // Its lease ends: the clock of the store stands still in these tests.
  return { dies: () => store.lockLeases.release(lock) };
}

function protect(serverId: number): Promise<void> {
  return store.serverNotes.put('protection', 'T1', { serverId, protectedBy: 'U9', protectedAt: T0 });
}

/** Sets the servers that the hosting API lists from now on. */
function show(some: Server[]): void {
  servers = some;
}

const stateOf = async ({ id }: Approval) => {
  const found = await store.requests.find(id, APPROVALS);
  const reason = found && 'reason' in found ? found.reason.code : undefined;
  return [found?.state, reason].filter(Boolean).join(' ');
};
const audited = async () => {
  const entries: readonly StoredEntry[] = await store.audit.list({ workspaceId: 'T1', limit: 100 });
  return entries.map(({ action, outcome, code }) => [action, outcome, code].filter(Boolean).join(' '));
};

describe('an approved delete that a crashed process left', () => {
  it('is carried out by the next process, and reported', async () => {
    const approval = await left('approved', 1);
    await sweepAfter(2);
    expect(deleted).toEqual([7]);
    expect(await stateOf(approval)).toBe('ended done');
    expect([shown, told]).toEqual([['ended'], ['ended']]);
    await sweepAfter(3);
    expect([deleted, told]).toEqual([[7], ['ended']]);
    expect((await audited()).slice(0, 2)).toEqual(['delete done', 'delete started']);
  });

  it('is left alone while the process that approved it is sending it, and after 15 s if that has died', async () => {
    const approval = await left('approved', 1);
    const other = await holdAsOther(approval);
    await sweepAfter(1.9, 0);
    expect(await stateOf(approval)).toBe('approved');
    expect([deleted, told, shown]).toEqual([[], [], []]);
    await other.dies();
    await sweepAfter(1.2, 0);
    expect([await stateOf(approval), deleted]).toEqual(['approved', []]);
    await sweepAfter(1.3, 0);
    expect([await stateOf(approval), deleted]).toEqual(['ended done', [7]]);
  });

  it('is canceled when it was approved too long ago', async () => {
    const approval = await left('approved', 1);
    await sweepAfter(7);
    expect(deleted).toEqual([]);
    expect(await stateOf(approval)).toBe('canceled stale_confirmation');
    expect(told).toEqual(['canceled']);
  });

  it.each([
    ['the requester’s role was revoked', 'role_needed', () => give('viewer')],
    ['the server has another label', 'label_differs', () => show([{ ...servers[0], label: 'x' } as Server])],
    ['the server is gone', 'unknown_server', () => show([])],
    ['an owner has protected the server', 'server_protected', () => protect(7)],
    ['the server was renewed', 'already_renewed', () => show([{ ...servers[0], paidUntil: 9 } as Server])],
  ])('is not carried out when %s', async (_words, reason, change) => {
    const approval = await left('approved', 1);
    await change();
    await sweepAfter(2);
    expect(deleted).toEqual([]);
    expect(await stateOf(approval)).toBe(`canceled ${reason}`);
  });

  it('is not carried out in an account that was connected since it was requested', async () => {
    const approval = await left('approved', 1);
    await store.apiKeys.put('T1', new Secret('other'), 'U9', T0 + 1);
    await sweepAfter(2);
    expect(deleted).toEqual([]);
    expect(await stateOf(approval)).toBe('canceled account_changed');
    expect(told).toEqual(['canceled']);
  });

  it('waits while Slack can’t say whether the requester still has the role', async () => {
    const approval = await left('approved', 1);
    await give('viewer');
    isUnsure = true;
    await sweepAfter(2);
    expect([await stateOf(approval), deleted, told]).toEqual(['approved', [], []]);
    await give('manager');
    await sweepAfter(3, 2);
    expect([await stateOf(approval), deleted]).toEqual(['ended done', [7]]);
  });

  it('is canceled when Slack says nothing for too long', async () => {
    const approval = await left('approved', 1);
    await give('viewer');
    isUnsure = true;
    await sweepAfter(2);
    await sweepAfter(7, 2);
    expect([await stateOf(approval), deleted]).toEqual(['canceled stale_confirmation', []]);
  });

  it('waits while the hosting API does not say whether it still holds', async () => {
    const approval = await left('approved', 1);
    fault = () => new HostingError('no_answer', 'no');
    await sweepAfter(2);
    expect(await stateOf(approval)).toBe('approved');
    fault = undefined;
    await sweepAfter(3, 2);
    expect(deleted).toEqual([7]);
  });
});

describe('an approved delete that is proven', () => {
  const followed = async () => {
    return (await store.jobStore.list('follow', 'T1')).map(({ key: id, payload }) => {
      const { action, actorId, servers } = payload as FollowPayload;
      return { ...{ id, action, actorId }, servers: servers.map(({ serverId }) => serverId) };
    });
  };

  it('is followed once, as the requester’s act, however often the process dies before it has stored that', async () => {
    const approval = await left('approved', 1);
    const markNotified = store.requests.markNotified;
    store = { ...store, requests: { ...store.requests, markNotified: async () => undefined } };
    await sweepAfter(2);
    await sweepAfter(3);
    expect(told).toEqual(['ended', 'ended']);
    store = { ...store, requests: { ...store.requests, markNotified } };
    await sweepAfter(4);
    expect(await followed()).toEqual([{ id: approval.id, action: 'delete', actorId: 'U1', servers: [7] }]);
  });

  it('is not followed before its message is in the channel, so that there is one to edit', async () => {
    isSlackDown = true;
    await left('approved', 1);
    await sweepAfter(2);
    expect([deleted, await followed()]).toEqual([[7], []]);
    isSlackDown = false;
    await sweepAfter(3);
    expect(await followed()).toHaveLength(1);
  });

  it('is not followed if the API didn’t confirm it', async () => {
    deletedState = 'deleting';
    isListComplete = false;
    await left('approved', 1);
    await sweepAfter(2);
    expect(await followed()).toEqual([]);
  });
});

describe('an approved delete that is refused', () => {
  it.each([
    ['wrong_state', new HostingError('wrong_state', 'no'), 'wrong_state'],
    ['key_unreadable', new Refusal('key_unreadable', { keyId: 'k1' }), 'key_unreadable'],
    ['shutting_down', new Refusal('shutting_down', {}), 'shutting_down'],
    ['a refusal that has nothing to do with it', new Refusal('last_owner', {}), 'defect'],
    ['an error of ours', new Error('a defect'), 'defect'],
  ])('by %s ends with that reason, and the requester is notified', async (_words, error, code) => {
    const approval = await left('approved', 1);
    deleteFault = error;
    await sweepAfter(2);
    expect([await stateOf(approval), told]).toEqual([`ended ${code}`, ['ended']]);
    expect((await audited())[0]).toBe(`delete failed ${code}`);
  });
});

describe('an approved delete that is answered with another state than deleted', () => {
  it.each([
    ['while the list still has the server', false],
    ['while the list is not complete', true],
  ])('is unconfirmed, and audited as that, %s', async (_, isCut) => {
    const approval = await left('approved', 1);
    deletedState = 'deleting';
    isCutAfterDelete = isCut;
    await sweepAfter(2);
    expect([await stateOf(approval), told]).toEqual(['ended no_answer', ['ended']]);
    expect((await audited())[0]).toBe('delete in_doubt no_answer');
    expect(deleted).toEqual([7]);
  });
});

describe('a delete that was in progress when its process died', () => {
  it('is never sent again: the requester is notified when the server is gone', async () => {
    const approval = await left('running', 1);
    await sweepAfter(2);
    expect(await stateOf(approval)).toBe('running');
    servers = [];
    await sweepAfter(3, 2);
    expect(await stateOf(approval)).toBe('ended done');
    expect([deleted, told]).toEqual([[], ['ended']]);
  });

  it('is left to the process that sent it, for as long as that waits for the answer', async () => {
    const approval = await left('running', 1);
    const other = await holdAsOther(approval);
    servers = [];
    await sweepAfter(30, 0);
    expect([await stateOf(approval), told]).toEqual(['running', []]);
    await other.dies();
    await sweepAfter(31, 0);
    expect([await stateOf(approval), deleted]).toEqual(['ended done', []]);
  });

  it.each([
    ['two minutes, if another process goes on', 0, 2.5, 3.5],
    ['two minutes, after a restart', 2, 3.5, 4.5],
  ])('is reported as unknown if the server is still there after %s', async (_words, started, before, after) => {
    const approval = await left('running', 1);
    await sweepAfter(before, started);
    expect(await stateOf(approval)).toBe('running');
    await sweepAfter(after, started);
    expect(await stateOf(approval)).toBe('ended no_answer');
    expect([deleted, told.at(-1)]).toEqual([[], 'ended']);
    expect((await audited())[0]).toBe('delete in_doubt no_answer');
  });

  it('is never judged by the servers of another account', async () => {
    const approval = await left('running', 1);
    await store.apiKeys.put('T1', new Secret('other'), 'U9', T0 + 1);
    servers = [];
    await sweepAfter(2);
    expect([await stateOf(approval), told]).toEqual(['running', []]);
    await sweepAfter(11.5, 2);
    expect([await stateOf(approval), told]).toEqual(['ended lost_account', ['ended']]);
    expect((await audited())[0]).toBe('delete in_doubt lost_account');
  });

  it('is given up after that time, also while the hosting API does not answer', async () => {
    const approval = await left('running', 1);
    fault = () => new HostingError('no_answer', 'no');
    await sweepAfter(2.5, 0);
    expect(await stateOf(approval)).toBe('running');
    await sweepAfter(3.5, 0);
    expect(await stateOf(approval)).toBe('ended no_answer');
  });
});

describe('an approval that was not decided', () => {
  it('expires after an hour, once', async () => {
    const approval = await left('open');
    await sweepAfter(59.9);
    expect(await stateOf(approval)).toBe('open');
    await sweepAfter(60);
    await sweepAfter(61);
    expect(await stateOf(approval)).toBe('expired');
    expect(told).toEqual(['open', 'expired']);
    expect((await audited())[0]).toBe('approval_answer failed expired');
  });
});

describe('the cards of an approval', () => {
  it('are not posted again if the process died before it stored that', async () => {
    const { id } = await left('open');
    await store.requests.storeCards(id, [{ channelId: 'D1', ts: '1.1' }]);
    await sweepAfter(2);
    expect(asked).toBe(0);
    expect(await store.requests.find(id, APPROVALS)).toMatchObject({ isNotified: true });
  });
});

describe('the outcome of an approval', () => {
  it('is sent even if another approval fails', async () => {
    const broken = await left('approved', 1, newDelete(8));
    const { id } = await left('open', 0, newDelete(9));
    await store.requests.move(id, ['open'], { state: 'denied', at: T0 });
    fault = () => new Error('a defect');
    await sweepAfter(2);
    expect(told).toEqual(['denied']);
    expect(await stateOf(broken)).toBe('approved');
  });
});
