import { beforeEach, describe, expect, test } from 'vitest';
import type { AccessRequests, NewAccessRequest } from '../../../src/access/grants.ts';
import type { Store } from '../../../src/context.ts';
import type { AccessRequest } from '../../../src/requests/role-request.ts';
import { engines, entry, newGrant, stillSystem, T0 } from '../support.ts';

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;

function newRequest(more: Partial<NewAccessRequest> = {}): NewAccessRequest {
  const { requestedAt = T0 } = more;
  return {
    id: stillSystem.newId(),
    workspaceId: 'T1',
    requesterId: 'U1',
    channelId: 'C1',
    role: 'operator',
    pattern: '',
    reason: 'to réboot things',
    requestedAt,
    expiresAt: requestedAt + WEEK_MS,
    ...more,
  };
}

describe.each(engines)('access requests on $name', ({ make }) => {
  let store: Store;
  let requests: AccessRequests;
  beforeEach(async () => {
    store = await make();
    requests = store.accessRequests;
  });

  const ask = (more: Partial<NewAccessRequest> = {}) => {
    const request = newRequest(more);
    return requests.request(request, { since: request.requestedAt - HOUR_MS, most: 3 });
  };
  /** One that has to be new. */
  const askNew = async (more: Partial<NewAccessRequest> = {}): Promise<AccessRequest> => {
    const asked = await ask(more);
    if (asked.kind !== 'new') throw new Error(`not new, but ${asked.kind}`);
    return asked.request;
  };

  describe('requesting a role', () => {
    test('is stored as it was made, with its cards', async () => {
      const asked = newRequest();
      const made = await requests.request(asked, { since: 0, most: 1 });
      const request = { ...asked, state: 'open', isNotified: false, cards: [] };
      expect(made).toStrictEqual({ kind: 'new', request, replaced: [] });
      const cards = [
        { channelId: 'D1', ts: '1.1' },
        { channelId: 'D2', ts: '1.2' },
      ];
      await requests.storeCards(asked.id, cards);
      expect(await requests.find(asked.id)).toStrictEqual({ ...request, cards });
      expect(await requests.find('nothing')).toBeUndefined();
    });

    test('again within the hour makes no new request', async () => {
      const request = await askNew();
      expect(await ask({ requestedAt: T0 + HOUR_MS })).toEqual({ kind: 'repeated', request });
      expect(await requests.listOpen('T1')).toHaveLength(1);
    });

    test('again within the hour makes no new request after a denial either', async () => {
      const { id } = await askNew();
      await requests.decide(id, { by: 'U9', at: T0 + 1 });
      const again = await ask({ requestedAt: T0 + HOUR_MS });
      expect(again).toMatchObject({ kind: 'repeated', request: { id, state: 'denied' } });
      expect((await ask({ requestedAt: T0 + HOUR_MS + 1 })).kind).toBe('new');
    });

    test('after an approved role has ended makes a new request, however soon', async () => {
      const { id } = await askNew();
      await requests.decide(id, { by: 'U9', at: T0 + 1, grant: newGrant({ until: T0 + 2 }) });
      expect((await ask({ requestedAt: T0 + 3 })).kind).toBe('new');
    });

    test('after an hour replaces the unanswered request', async () => {
      const old = await askNew();
      await requests.storeCards(old.id, [{ channelId: 'D1', ts: '1.1' }]);
      await requests.markNotified(old.id, 'open');
      const decidedAt = T0 + HOUR_MS + 1;
      const again = await ask({ requestedAt: decidedAt, pattern: '' });
      const closed = { state: 'replaced', decidedAt, cards: [{ channelId: 'D1', ts: '1.1' }] };
      expect(again).toMatchObject({ kind: 'new', replaced: [{ ...old, ...closed, isNotified: false }] });
      expect(await requests.listOpen('T1')).toMatchObject([{ requestedAt: decidedAt }]);
      expect(await requests.decide(old.id, { by: 'U9', at: T0, grant: newGrant() })).toBeUndefined();
      expect(await store.grants.list('T1')).toEqual([]);
    });

    test('is not a repetition for another role, other servers, another user or another workspace', async () => {
      const others = [
        {},
        { role: 'manager' as const },
        { pattern: 'web-*' },
        { requesterId: 'U2' },
        { workspaceId: 'T2' },
      ];
      for (const more of others) expect((await ask(more)).kind).toBe('new');
      expect((await ask({ pattern: 'WEB-*' })).kind).toBe('repeated');
      expect((await requests.listOpen('T1')).map(({ requestedAt }) => requestedAt)).toHaveLength(4);
    });

    test('is possible three times an hour, whatever the requests are for and however they end', async () => {
      const first = await askNew({ pattern: 'web-1' });
      const second = await askNew({ pattern: 'web-2', requestedAt: T0 + 1 });
      await requests.decide(second.id, { by: 'U9', at: T0 + 1, grant: newGrant({ pattern: 'web-2' }) });
      await askNew({ role: 'viewer', requestedAt: T0 + 2 });
      const fourth = await ask({ role: 'manager', requestedAt: T0 + 3 });
      expect(fourth).toMatchObject({
        kind: 'too_many',
        recent: [{ id: first.id }, { pattern: 'web-2', state: 'approved' }, { role: 'viewer' }],
      });
      expect(await requests.listOpen('T1')).toHaveLength(2);
      // What is asked for again is handed back, as ever.
      expect(await ask({ pattern: 'web-1', requestedAt: T0 + 3 })).toMatchObject({ kind: 'repeated' });
      expect((await ask({ requesterId: 'U2', requestedAt: T0 + 3 })).kind).toBe('new');
      expect((await ask({ role: 'manager', requestedAt: T0 + HOUR_MS + 1 })).kind).toBe('new');
    });

    test('many times at the same moment makes three requests', async () => {
      const labels = Array.from({ length: 10 }, (_, at) => `web-${at}`);
      const asked = await Promise.all(labels.map((pattern) => ask({ pattern })));
      expect(asked.filter(({ kind }) => kind === 'new')).toHaveLength(3);
      expect(await requests.listOpen('T1')).toHaveLength(3);
    });

    test('twice at the same moment, or by a repeated press, makes one card', async () => {
      const both = await Promise.all([ask(), ask()]);
      expect(both.map(({ kind }) => kind).sort()).toEqual(['new', 'repeated']);
      const [{ id = '' } = {}, none] = await requests.listOpen('T1');
      expect(none).toBeUndefined();
      await requests.decide(id, { by: 'U9', at: T0, grant: newGrant() });
      expect(await ask({ id })).toMatchObject({ kind: 'repeated', request: { id, state: 'approved' } });
      await expect(ask({ id, workspaceId: 'T2' })).rejects.toThrow(/another workspace/);
    });
  });

  describe('withdrawing', () => {
    test('closes the requester’s own open request, and no one else’s', async () => {
      const { id, expiresAt } = await askNew();
      expect(await requests.withdraw(id, { requesterId: 'U2', at: T0 + 1 })).toBeUndefined();
      expect(await requests.withdraw(id, { requesterId: 'U1', at: expiresAt })).toBeUndefined();
      expect(await requests.withdraw(id, { requesterId: 'U1', at: T0 + 1 })).toMatchObject({
        state: 'withdrawn',
        decidedBy: 'U1',
        isNotified: false,
      });
      expect(await requests.decide(id, { by: 'U9', at: T0 + 2, grant: newGrant() })).toBeUndefined();
      expect(await store.grants.list('T1')).toEqual([]);
      expect((await ask({ requestedAt: T0 + 3 })).kind).toBe('new');
    });

    test('and approving it at the same moment: one of the two takes effect', async () => {
      for (let round = 0; round < 5; round++) {
        const requesterId = `U${round}`;
        const { id } = await askNew({ requesterId });
        const grant = newGrant({ subjectId: requesterId });
        const [withdrawn, decided] = await Promise.all([
          requests.withdraw(id, { requesterId, at: T0 + 1 }),
          requests.decide(id, { by: 'U9', at: T0 + 1, grant }),
        ]);
        expect([withdrawn, decided].filter(Boolean)).toHaveLength(1);
        const granted = (await store.grants.list('T1')).filter(({ subjectId }) => subjectId === requesterId);
        expect(granted).toHaveLength(decided ? 1 : 0);
      }
    });
  });

  describe('answering', () => {
    test('grants the role with the answer, for the chosen time', async () => {
      const request = await askNew();
      const grant = newGrant({ role: 'operator', until: T0 + 100 });
      const decided = await requests.decide(request.id, { by: 'U9', at: T0 + 1, grant });
      const granted = { role: 'operator', pattern: grant.pattern };
      const answer = { state: 'approved', decidedBy: 'U9', decidedAt: T0 + 1, until: T0 + 100, granted };
      const expected = { ...request, ...answer };
      expect(decided).toStrictEqual(expected);
      expect(await requests.find(request.id)).toStrictEqual(expected);
      expect(await store.grants.list('T1')).toMatchObject([grant]);
      expect(await requests.listOpen('T1')).toEqual([]);
    });

    test('permanently sets no end, and a denial grants nothing', async () => {
      const [good, denied] = [await askNew(), await askNew({ requesterId: 'U2' })];
      expect(await requests.decide(good.id, { by: 'U9', at: T0, grant: newGrant() })).not.toHaveProperty(
        'until',
      );
      expect(await requests.decide(denied.id, { by: 'U9', at: T0 })).toMatchObject({ state: 'denied' });
      expect(await store.grants.list('T1')).toMatchObject([{ subjectId: 'U1' }]);
    });

    test('with an approval never lowers a role, and raises a lower one', async () => {
      await store.grants.put(newGrant({ role: 'manager' }));
      const small = await askNew({ role: 'viewer' });
      await requests.decide(small.id, { by: 'U9', at: T0, grant: newGrant({ role: 'viewer' }) });
      expect(await store.grants.list('T1')).toMatchObject([{ role: 'manager' }]);
      const big = await askNew({ role: 'owner' });
      await requests.decide(big.id, { by: 'U9', at: T0, grant: newGrant({ role: 'owner' }) });
      expect(await store.grants.list('T1')).toMatchObject([{ role: 'owner' }]);
    });

    test('with an approval for an hour does not shorten a grant for eight hours, and says so', async () => {
      await store.grants.put(newGrant({ role: 'operator', until: T0 + 8 * HOUR_MS }));
      const { id } = await askNew();
      const hour = newGrant({ role: 'operator', until: T0 + HOUR_MS });
      const decided = await requests.decide(id, { by: 'U9', at: T0, grant: hour });
      expect(decided).toMatchObject({ state: 'approved', until: T0 + 8 * HOUR_MS });
      expect(await requests.find(id)).toEqual(decided);
      expect(await store.grants.list('T1')).toMatchObject([{ until: T0 + 8 * HOUR_MS }]);
      const more = await askNew({ requestedAt: T0 + 1 });
      const longer = newGrant({ role: 'operator', until: T0 + 9 * HOUR_MS });
      await requests.decide(more.id, { by: 'U9', at: T0 + 1, grant: longer });
      expect(await store.grants.list('T1')).toMatchObject([{ until: T0 + 9 * HOUR_MS }]);
    });

    test('with a temporary approval leaves another temporary role unchanged', async () => {
      await store.grants.put(newGrant({ role: 'manager', until: T0 + HOUR_MS }));
      const { id } = await askNew();
      const grant = newGrant({ role: 'operator', until: T0 + 8 * HOUR_MS });
      await requests.decide(id, { by: 'U9', at: T0, grant });
      const given = (await store.grants.list('T1')).map(({ role, until = 0 }) => [role, until - T0]);
      expect(given.sort()).toEqual([
        ['manager', HOUR_MS],
        ['operator', 8 * HOUR_MS],
      ]);
    });

    test('with an owner role for some servers only is a defect, and grants nothing', async () => {
      const request = await askNew({ role: 'owner', pattern: 'web-1' });
      const grant = newGrant({ role: 'owner', pattern: 'web-1' });
      await expect(requests.decide(request.id, { by: 'U9', at: T0, grant })).rejects.toThrow('every server');
      expect(await requests.find(request.id)).toEqual(request);
      expect(await store.grants.list('T1')).toEqual([]);
    });

    test('by two owners at once counts once, and grants one role or none', async () => {
      for (let round = 0; round < 20; round++) {
        const requesterId = `U-${round}`;
        const { id } = await askNew({ requesterId });
        const answers = await Promise.all([
          requests.decide(id, { by: 'U8', at: T0 }),
          requests.decide(id, { by: 'U9', at: T0, grant: newGrant({ subjectId: requesterId }) }),
          requests.decide(id, {
            by: 'U7',
            at: T0,
            grant: newGrant({ subjectId: requesterId, until: T0 + 9 }),
          }),
        ]);
        const winners = answers.filter((answer) => answer !== undefined);
        expect(winners).toHaveLength(1);
        const given = await store.grants.listFor('T1', { userId: requesterId }, T0);
        expect(given).toHaveLength(winners[0]?.state === 'approved' ? 1 : 0);
      }
    });

    test('grants no role in another workspace', async () => {
      const request = await askNew();
      const grant = newGrant({ workspaceId: 'T2' });
      await expect(requests.decide(request.id, { by: 'U9', at: T0, grant })).rejects.toThrow(/in another/);
      expect(await requests.find(request.id)).toEqual(request);
      expect(await store.grants.list('T2')).toEqual([]);
    });

    test('a missing or closed request does nothing', async () => {
      const { id, expiresAt } = await askNew();
      expect(await requests.decide('nothing', { by: 'U9', at: T0, grant: newGrant() })).toBeUndefined();
      expect(await requests.decide(id, { by: 'U9', at: expiresAt, grant: newGrant() })).toBeUndefined();
      expect(await store.grants.list('T1')).toEqual([]);
      expect(await requests.decide(id, { by: 'U9', at: expiresAt - 1 })).toMatchObject({ state: 'denied' });
    });
  });

  describe('unanswered requests', () => {
    const auditOf = ({ workspaceId, requesterId }: AccessRequest) =>
      entry({ workspaceId, label: requesterId });

    test('expire once, each with an audit entry', async () => {
      const old = await askNew();
      await requests.markNotified(old.id, 'open');
      const young = await askNew({ requesterId: 'U2', requestedAt: T0 + 1 });
      const denied = await askNew({ requesterId: 'U3' });
      await requests.decide(denied.id, { by: 'U9', at: T0 });
      const at = T0 + WEEK_MS;
      expect(await requests.expire(at - 1, auditOf)).toEqual([]);
      const both = await Promise.all([requests.expire(at, auditOf), requests.expire(at, auditOf)]);
      const expired = { ...old, state: 'expired', decidedAt: at, isNotified: false };
      expect(both.flat()).toEqual([expired]);
      expect(await requests.find(old.id)).toEqual(expired);
      expect(await store.audit.list({ workspaceId: 'T1', limit: 9 })).toMatchObject([{ label: 'U1' }]);
      expect(await requests.listOpen('T1')).toEqual([young]);
    });

    test('stay open if their expiry can’t be audited', async () => {
      const { id } = await askNew();
      const broken = () => entry({ actorId: null as unknown as string });
      await expect(requests.expire(T0 + WEEK_MS, broken)).rejects.toThrow();
      expect(await requests.find(id)).toMatchObject({ state: 'open' });
    });
  });

  test('are listed until users were notified, again for each new state', async () => {
    const { id } = await askNew();
    const owed = async (before: number) => (await requests.listUnnotified(before)).map(({ state }) => state);
    expect([await owed(T0), await owed(T0 + 1)]).toEqual([[], ['open']]);
    await requests.markNotified(id, 'open');
    expect(await owed(T0 + 1)).toEqual([]);
    await requests.decide(id, { by: 'U9', at: T0 + 5 });
    // Users were notified of the earlier state, not of this one.
    await requests.markNotified(id, 'open');
    expect([await owed(T0 + 5), await owed(T0 + 6)]).toEqual([[], ['denied']]);
    await requests.markNotified(id, 'denied');
    expect(await owed(T0 + 6)).toEqual([]);
  });

  test('are listed oldest first, by workspace', async () => {
    const young = await askNew({ requestedAt: T0 + 2 });
    const old = await askNew({ requestedAt: T0 + 1, requesterId: 'U2' });
    await askNew({ workspaceId: 'T2' });
    const denied = await askNew({ requesterId: 'U3' });
    await requests.decide(denied.id, { by: 'U9', at: T0 });
    expect(await requests.listOpen('T1')).toEqual([old, young]);
  });
});
