import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { type NewRoleRequest, ROLES_ASKED, type RoleRequest } from '../../src/requests/request.ts';
import type { Requests } from '../../src/requests/store.ts';
import { engines, newGrant, newRoleRequest, T0 } from '../db/support.ts';

const HOUR_MS = 3_600_000;

describe.each(engines)('requests for a role on $name', ({ make }) => {
  let store: Store;
  let requests: Requests;
  beforeEach(async () => {
    store = await make();
    requests = store.requests;
  });

  const ask = (more: Partial<NewRoleRequest> = {}) => {
    const request = newRoleRequest(more);
    return requests.requestRole(request, { since: request.requestedAt - HOUR_MS, most: 3 });
  };
  /** One that has to be new. */
  const askNew = async (more: Partial<NewRoleRequest> = {}): Promise<RoleRequest> => {
    const asked = await ask(more);
    if (asked.kind !== 'new') throw new Error(`not new, but ${asked.kind}`);
    return asked.request;
  };

  describe('requesting a role', () => {
    test('again within the hour makes no new request after a denial either', async () => {
      const { id } = await askNew();
      await requests.move(id, ['open'], { state: 'denied', by: 'U9', at: T0 + 1 });
      const again = await ask({ requestedAt: T0 + HOUR_MS });
      expect(again).toMatchObject({ kind: 'repeated', request: { id, state: 'denied' } });
      expect((await ask({ requestedAt: T0 + HOUR_MS + 1 })).kind).toBe('new');
    });

    test('after an approved role has ended makes a new request, however soon', async () => {
      const { id } = await askNew();
      await requests.grantRole(id, { by: 'U9', at: T0 + 1, grant: newGrant({ until: T0 + 2 }) });
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
      expect(await requests.listOpen('T1', ROLES_ASKED)).toMatchObject([{ requestedAt: decidedAt }]);
      expect(await requests.grantRole(old.id, { by: 'U9', at: T0, grant: newGrant() })).toBeUndefined();
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
      expect((await requests.listOpen('T1', ROLES_ASKED)).map(({ requestedAt }) => requestedAt)).toHaveLength(
        4,
      );
    });

    test('many times at the same moment makes three requests', async () => {
      const labels = Array.from({ length: 10 }, (_, at) => `web-${at}`);
      const asked = await Promise.all(labels.map((pattern) => ask({ pattern })));
      expect(asked.filter(({ kind }) => kind === 'new')).toHaveLength(3);
      expect(await requests.listOpen('T1', ROLES_ASKED)).toHaveLength(3);
    });

    test('twice at the same moment, or by a repeated press, makes one card', async () => {
      const both = await Promise.all([ask(), ask()]);
      expect(both.map(({ kind }) => kind).sort()).toEqual(['new', 'repeated']);
      const [{ id = '' } = {}, none] = await requests.listOpen('T1', ROLES_ASKED);
      expect(none).toBeUndefined();
      await requests.grantRole(id, { by: 'U9', at: T0, grant: newGrant() });
      expect(await ask({ id })).toMatchObject({ kind: 'repeated', request: { id, state: 'approved' } });
      await expect(ask({ id, workspaceId: 'T2' })).rejects.toThrow(/another workspace/);
    });
  });

  describe('answering', () => {
    test('grants the role with the answer, for the chosen time', async () => {
      const request = await askNew();
      const grant = newGrant({ role: 'operator', until: T0 + 100 });
      const decided = await requests.grantRole(request.id, { by: 'U9', at: T0 + 1, grant });
      const granted = { role: 'operator', pattern: grant.pattern, until: T0 + 100 };
      const answer = { state: 'approved', decidedBy: 'U9', decidedAt: T0 + 1, granted };
      const expected = { ...request, ...answer };
      expect(decided).toEqual(expected);
      expect(await requests.find(request.id, ROLES_ASKED)).toEqual(expected);
      expect(await store.grants.list('T1')).toMatchObject([grant]);
      expect(await requests.listOpen('T1', ROLES_ASKED)).toEqual([]);
    });

    test('grants no role in another workspace', async () => {
      const request = await askNew();
      const grant = newGrant({ workspaceId: 'T2' });
      await expect(requests.grantRole(request.id, { by: 'U9', at: T0, grant })).rejects.toThrow(/in another/);
      expect(await requests.find(request.id, ROLES_ASKED)).toEqual(request);
      expect(await store.grants.list('T2')).toEqual([]);
    });
  });
});
