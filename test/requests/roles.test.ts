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
    return requests.requestRole(request, request.requestedAt - HOUR_MS);
  };
  /** One that has to be new. */
  const askNew = async (more: Partial<NewRoleRequest> = {}): Promise<RoleRequest> => {
    const asked = await ask(more);
    if (!asked.isNew) throw new Error(`not new, but ${asked.request.state}`);
    return asked.request;
  };

  describe('requesting a role', () => {
    test('after an approved role has ended makes a new request, however soon', async () => {
      const { id } = await askNew();
      await requests.grantRole(id, { by: 'U9', at: T0 + 1, grant: newGrant({ until: T0 + 2 }) });
      expect((await ask({ requestedAt: T0 + 3 })).isNew).toBe(true);
    });

    test('again makes no new request while the first one is open, however long that is', async () => {
      const { id, expiresAt } = await askNew();
      for (const requestedAt of [T0 + 1, T0 + HOUR_MS + 1, expiresAt - 1])
        expect(await ask({ requestedAt })).toMatchObject({ isNew: false, request: { id } });
      expect((await ask({ requestedAt: expiresAt })).isNew).toBe(true);
    });

    test('is not a repetition for another role, other servers, another user or another workspace', async () => {
      const others = [
        {},
        { role: 'manager' as const },
        { pattern: 'web-*' },
        { requesterId: 'U2' },
        { workspaceId: 'T2' },
      ];
      for (const more of others) expect((await ask(more)).isNew).toBe(true);
      expect((await ask({ pattern: 'WEB-*' })).isNew).toBe(false);
      expect((await requests.listOpen('T1', ROLES_ASKED)).map(({ requestedAt }) => requestedAt)).toHaveLength(
        4,
      );
    });

    test('twice at the same moment, or by a repeated press, makes one card', async () => {
      const both = await Promise.all([ask(), ask()]);
      expect(both.map(({ isNew }) => isNew).sort()).toEqual([false, true]);
      const [{ id = '' } = {}, none] = await requests.listOpen('T1', ROLES_ASKED);
      expect(none).toBeUndefined();
      await requests.grantRole(id, { by: 'U9', at: T0, grant: newGrant() });
      expect(await ask({ id })).toMatchObject({ isNew: false, request: { id, state: 'approved' } });
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
