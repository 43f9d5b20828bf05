import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import type { Ledger } from '../../../src/purchases/ports.ts';
import { engines, entry, markSent, markTold, newCreate, sentBy, T0 } from '../support.ts';
import { LIMIT, NO_ANSWER } from './reasons.ts';

describe.each(engines)('leases on $name', ({ make }) => {
  let ledger: Ledger;
  beforeEach(async () => {
    const store: Store = await make();
    ledger = store.ledger;
  });

  const at = (now: number, owner = 'worker') => ({ owner, now, until: now + 100 });
  const prepared = async (more = {}) => {
    const operation = newCreate('web-1', more);
    await ledger.prepare(operation);
    return operation.id;
  };
  const doubtful = async (dueAt: number) => {
    const id = await prepared();
    await markSent(ledger, id, T0, []);
    await ledger.markUnconfirmed(id, { dueAt, reason: NO_ANSWER }, entry());
    return id;
  };
  /** Takes what is due then, without keeping it. */
  const listDue = async (now: number) => {
    const ids: string[] = [];
    for (let one = await ledger.leaseDue(at(now)); one; one = await ledger.leaseDue(at(now)))
      ids.push(one.id);
    for (const id of ids) await ledger.release(id, 'worker');
    return ids;
  };

  test('one holder at a time; the holder may extend it', async () => {
    const id = await prepared();
    expect(await ledger.lease(id, at(T0, 'a'))).toBe(true);
    expect(await ledger.lease(id, at(T0 + 50, 'b'))).toBe(false);
    expect(await ledger.lease(id, at(T0 + 50, 'a'))).toBe(true);
    expect(await ledger.lease(id, at(T0 + 149, 'b'))).toBe(false);
    expect(await ledger.lease(id, at(T0 + 150, 'b'))).toBe(true);
    expect(await ledger.lease('nothing', at(T0))).toBe(false);
  });

  test('only the holder gives it back', async () => {
    const id = await prepared();
    await ledger.lease(id, at(T0, 'a'));
    await ledger.release(id, 'b', T0 + 9999);
    expect(await ledger.lease(id, at(T0, 'b'))).toBe(false);
    await ledger.release(id, 'a');
    expect(await ledger.lease(id, at(T0, 'b'))).toBe(true);
  });

  test('a confirmation whose process crashed is found when its lease has ended', async () => {
    const id = await prepared();
    await ledger.lease(id, at(T0, 'dead'));
    expect(await ledger.leaseDue(at(T0 + 99))).toBeUndefined();
    expect(await ledger.leaseDue(at(T0 + 100))).toMatchObject({ id, state: 'prepared' });
    expect(await ledger.leaseDue(at(T0 + 100, 'another'))).toBeUndefined();
  });

  test('one that was sent by a process that crashed is found, too', async () => {
    const id = await prepared();
    await ledger.lease(id, at(T0, 'dead'));
    await ledger.markSent(id, sentBy('dead'));
    expect(await ledger.leaseDue(at(T0 + 100))).toMatchObject({ id, state: 'sent' });
  });

  test('eight that ask at once get each operation once', async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, () => prepared()));
    const claim = async (owner: string) => {
      const mine: string[] = [];
      for (let one = await ledger.leaseDue(at(T0, owner)); one; one = await ledger.leaseDue(at(T0, owner))) {
        mine.push(one.id);
      }
      return mine;
    };
    const claimed = await Promise.all(Array.from({ length: 8 }, (_, worker) => claim(`worker-${worker}`)));
    expect(claimed.flat().sort()).toEqual([...ids].sort());
    expect(claimed.filter((mine) => mine.length > 0).length).toBeGreaterThan(1);
  });

  test('what has been due longest comes first', async () => {
    const late = await prepared({ at: T0 - 1 });
    const later = await prepared({ at: T0 });
    const first = await prepared({ at: T0 - 2 });
    expect(await listDue(T0)).toEqual([first, late, later]);
  });

  test('an unconfirmed operation is leased when it is due, and again when it was released for later', async () => {
    const id = await doubtful(T0 + 10);
    expect(await listDue(T0 + 9)).toEqual([]);
    expect(await listDue(T0 + 10)).toEqual([id]);
    await ledger.lease(id, at(T0 + 10));
    await ledger.release(id, 'worker', T0 + 500);
    await markTold(ledger, id, T0 + 11);
    expect(await listDue(T0 + 499)).toEqual([]);
    expect(await listDue(T0 + 500)).toEqual([id]);
  });

  test('an ended one is due until its user is notified, and never after', async () => {
    const id = await doubtful(T0 + 1000);
    await markTold(ledger, id, T0);
    await ledger.settle(id, { at: T0 + 5, serverId: 1 }, entry());
    expect(await ledger.find(id)).not.toHaveProperty('notifiedAt');
    expect(await listDue(T0 + 5)).toEqual([id]);
    await ledger.lease(id, at(T0 + 5));
    await ledger.release(id, 'worker', T0 + 60);
    expect(await listDue(T0 + 59)).toEqual([]);
    await ledger.lease(id, at(T0 + 60));
    await markTold(ledger, id, T0 + 61);
    await ledger.release(id, 'worker', T0 + 62);
    expect(await listDue(T0 + 1e9)).toEqual([]);
    expect(await ledger.find(id)).toMatchObject({ notifiedAt: T0 + 61 });
  });

  test('a refused one is due in the same way', async () => {
    const id = await prepared();
    await ledger.refuse(id, { at: T0 + 5, reason: LIMIT }, entry());
    expect(await listDue(T0 + 5)).toEqual([id]);
    await markTold(ledger, id, T0 + 6);
    expect(await listDue(T0 + 1e9)).toEqual([]);
  });

  test('one that is left to a manager is due until its user is notified, and is looked for after that', async () => {
    const id = await doubtful(T0);
    await markTold(ledger, id, T0);
    await ledger.markNeedsDecision(id, entry({ at: T0 + 5 }));
    expect(await listDue(T0 + 4)).toEqual([]);
    expect(await listDue(T0 + 5)).toEqual([id]);
    await markTold(ledger, id, T0 + 6);
    await ledger.lease(id, at(T0 + 6));
    await ledger.release(id, 'worker', T0 + 1000);
    expect(await listDue(T0 + 999)).toEqual([]);
    expect(await listDue(T0 + 1000)).toEqual([id]);
    await ledger.settle(id, { at: T0 + 7, serverId: 1 }, entry());
    expect(await listDue(T0 + 7)).toEqual([id]);
  });
});
