import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { Refusal } from '../../src/core/errors.ts';
import { DEFAULT_SETTINGS } from '../../src/core/settings.ts';
import { type Place, places } from './places.ts';
import { confirm, entry, newApproval, newCreate, newDelete, newGrant, newRenew, T0 } from './support.ts';

const NEWER = new Refusal('newer_version', {});
const lease = { owner: 'old', now: T0 + 1, until: T0 + 30_000 };

describe.each(places)('what a newer version has written, on $name,', ({ make }) => {
  let place: Place;
  let store: Store;
  beforeEach(async () => {
    place = await make();
    store = await place.open();
    await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
  });

  const rowOf = async (table: string, id: string) =>
    (await place.sql(`select * from ${table} where id = '${id}'`))[0];

  describe('an order', () => {
    const ALTERED = {
      'of an unknown kind': `kind = 'resize', purchase = '{"kind":"resize","serverId":7,"plan":"s2"}'`,
      'in an unknown state': `state = 'queued'`,
      'with an unknown field': `purchase = '{"kind":"create","months":12,"order":{"plan":"s1","location":"ams","image":"debian-12","label":"web-1"}}'`,
      'with an unknown field of the server': `purchase = '{"kind":"create","order":{"plan":"s1","location":"ams","image":"debian-12","label":"web-1","disks":4}}'`,
    };

    test.each(
      Object.entries(ALTERED),
    )('%s is never taken up, and does not hold up others', async (_words, change) => {
      const { ledger } = store;
      const [newer, known] = [newCreate('web-1'), newCreate('web-2', { at: T0 + 1 })];
      for (const operation of [newer, known]) await confirm(ledger, operation);
      await place.sql(`update operations set ${change} where id = '${newer.id}'`);
      const before = await rowOf('operations', newer.id);
      expect(await ledger.leaseDue(lease)).toMatchObject({ id: known.id });
      expect(await ledger.leaseDue(lease)).toBeUndefined();
      // Not even for a while: the newer process takes it as before.
      expect(await rowOf('operations', newer.id)).toEqual(before);
    });

    test.each(
      Object.entries(ALTERED),
    )('%s is reported as such, and others are still listed', async (_words, change) => {
      const { ledger } = store;
      const [newer, known] = [newCreate('web-1'), newCreate('web-2')];
      for (const operation of [newer, known]) await confirm(ledger, operation);
      expect(await ledger.hasNewer('T1')).toBe(false);
      await place.sql(`update operations set ${change} where id = '${newer.id}'`);
      await expect(ledger.find(newer.id)).rejects.toThrow(NEWER);
      await expect(confirm(ledger, newer)).rejects.toThrow(NEWER);
      expect((await ledger.listOpen('T1')).map(({ id }) => id)).toEqual([known.id]);
      expect(await ledger.hasNewer('T1')).toBe(true);
      expect(await ledger.hasNewer('T2')).toBe(false);
    });

    test('that has ended does not block others', async () => {
      const operation = newCreate();
      await confirm(store.ledger, operation);
      await place.sql(
        `update operations set kind = 'resize', state = 'settled' where id = '${operation.id}'`,
      );
      expect(await store.ledger.hasNewer('T1')).toBe(false);
      expect(await store.ledger.leaseDue(lease)).toBeUndefined();
    });

    test('that claims a month keeps it: the same renewal is not confirmed again', async () => {
      const [newer, again] = [newRenew(), newRenew()];
      await confirm(store.ledger, newer);
      await place.sql(
        `update operations set kind = 'renew_year', purchase = '{"kind":"renew_year"}' where id = '${newer.id}'`,
      );
      await expect(confirm(store.ledger, again)).rejects.toThrow(NEWER);
      expect(await rowOf('operations', again.id)).toBeUndefined();
    });

    test.each([
      ['refused', 'refused'],
      ['in_doubt', 'unconfirmed'],
    ])('that is %s for an unknown reason is still %s', async (stored, state) => {
      const operation = newCreate();
      await confirm(store.ledger, operation);
      await place.sql(
        `update operations set state = '${stored}', reason = 'code_of_the_future' where id = '${operation.id}'`,
      );
      const reason = { code: 'unreadable', details: { code: 'code_of_the_future' } };
      expect(await store.ledger.find(operation.id)).toMatchObject({ state, reason });
    });
  });

  describe('a request for approval', () => {
    const ALTERED = {
      'of an unknown kind': `kind = 'resize', deed = '{"kind":"resize","serverId":7}'`,
      'with an unknown field': `deed = '{"kind":"delete","serverId":7,"label":"web-1","keepsDisk":true}'`,
    };

    test.each(Object.entries(ALTERED))('%s is left alone by every sweep', async (_words, change) => {
      const { approvals } = store;
      const [newer, known] = [newApproval({ action: newDelete(7) }), newApproval({ action: newDelete(8) })];
      for (const approval of [newer, known]) await approvals.request(approval, entry());
      await place.sql(`update approvals set ${change} where id = '${newer.id}'`);
      const before = await rowOf('approvals', newer.id);
      expect((await approvals.listOpen('T1')).map(({ id }) => id)).toEqual([known.id]);
      expect((await approvals.listUnnotified(T0 + 1)).map(({ id }) => id)).toEqual([known.id]);
      const expired = await approvals.expire(newer.expiresAt, () => entry({ action: 'approval_answer' }));
      expect(expired.map(({ id }) => id)).toEqual([known.id]);
      expect(await approvals.expire(newer.expiresAt, () => entry())).toEqual([]);
      expect(await rowOf('approvals', newer.id)).toEqual(before);
      await expect(approvals.find(newer.id)).rejects.toThrow(NEWER);
      await expect(approvals.approve(newer.id, { by: 'U9', at: T0 + 1 }, entry())).rejects.toThrow(NEWER);
      expect(await rowOf('approvals', newer.id)).toEqual(before);
    });

    test('whose delete was approved with more than this version knows is not carried out', async () => {
      const approval = newApproval({ action: newDelete(7) });
      await store.approvals.request(approval, entry());
      await store.approvals.approve(approval.id, { by: 'U9', at: T0 + 1 }, entry());
      expect(await store.approvals.listUnfinishedDeletes(T0 + 2)).toHaveLength(1);
      await place.sql(`update approvals set ${ALTERED['with an unknown field']} where id = '${approval.id}'`);
      expect(await store.approvals.listUnfinishedDeletes(T0 + 2)).toEqual([]);
    });

    test('in an unknown state is reported as such', async () => {
      const approval = newApproval();
      await store.approvals.request(approval, entry());
      await place.sql(`update approvals set state = 'escalated' where id = '${approval.id}'`);
      await expect(store.approvals.find(approval.id)).rejects.toThrow(NEWER);
      expect(await store.approvals.listUnnotified(T0 + 1)).toEqual([]);
    });

    test('that ended for an unknown reason says that it can’t be read', async () => {
      const approval = newApproval();
      await store.approvals.request(approval, entry());
      await place.sql(
        `update approvals set state = 'canceled', reason = 'moon_phase' where id = '${approval.id}'`,
      );
      expect(await store.approvals.find(approval.id)).toMatchObject({ reason: { code: 'unreadable' } });
    });
  });

  describe('a request for a role', () => {
    const request = (id: string, role: 'viewer' | 'operator') => ({
      ...{ id, workspaceId: 'T1', requesterId: 'U1', role, pattern: '', reason: 'on call' },
      ...{ requestedAt: T0, expiresAt: T0 + 60_000 },
    });
    const limit = { since: 0, most: 9 };

    test('that this version doesn’t have is left alone, and others expire', async () => {
      const { accessRequests } = store;
      await accessRequests.request(request('01NEWER', 'viewer'), limit);
      await accessRequests.request(request('01KNOWN', 'operator'), limit);
      await place.sql(`update access_requests set role = 'auditor' where id = '01NEWER'`);
      const before = await rowOf('access_requests', '01NEWER');
      expect((await accessRequests.listOpen('T1')).map(({ id }) => id)).toEqual(['01KNOWN']);
      const expired = await accessRequests.expire(T0 + 60_000, () => entry({ action: 'access_answer' }));
      expect(expired.map(({ id }) => id)).toEqual(['01KNOWN']);
      expect(await rowOf('access_requests', '01NEWER')).toEqual(before);
      await expect(accessRequests.find('01NEWER')).rejects.toThrow(NEWER);
    });
  });

  test('a role that this version doesn’t have gives nothing, and stays', async () => {
    const { id } = await store.grants.put(newGrant({ role: 'viewer' }));
    await place.sql(`update grants set role = 'auditor' where id = '${id}'`);
    const [grant] = await store.grants.listFor('T1', { userId: 'U1' }, T0);
    expect(grant?.role).toBe('auditor');
    await store.grants.put(newGrant({ role: 'operator', pattern: 'web-*' }));
    await store.grants.removeEnded(T0 + 1, () => entry());
    expect((await rowOf('grants', id))?.role).toBe('auditor');
  });

  describe('settings', () => {
    const write = (settings: object) =>
      place.sql(`update workspaces set settings = '${JSON.stringify(settings)}' where id = 'T1'`);
    const read = async () => JSON.parse(String((await rowOf('workspaces', 'T1'))?.settings));

    test('that this version doesn’t have survive a save, wherever they are', async () => {
      const freeze = { by: 'U1', since: 1, scope: 'create' };
      await write({ motto: 'daily', approval: { resize: true }, budget: { team: 5 }, freeze });
      const was = (await store.workspaces.find('T1'))?.settings ?? DEFAULT_SETTINGS;
      expect(await store.workspaces.changeSettings('T1', was, { ...was, announces: false })).toBe(true);
      expect(await read()).toEqual({
        ...{ motto: 'daily', announces: false, freeze },
        ...{ approval: { delete: false, renew: false, resize: true }, budget: { team: 5 } },
      });
    });

    test.each([
      [{ announces: 'threads' }],
      [{ approval: 'always' }],
      [{ budget: { workspace: { perWeek: 5 } } }],
      [{ freeze: { until: 5 } }],
    ])('with an unknown value are neither guessed nor replaced: %j', async (settings) => {
      await write(settings);
      await expect(store.workspaces.find('T1')).rejects.toThrow(NEWER);
      await expect(store.workspaces.changeSettings('T1', DEFAULT_SETTINGS, DEFAULT_SETTINGS)).rejects.toThrow(
        NEWER,
      );
      expect(await read()).toEqual(settings);
    });
  });
});
