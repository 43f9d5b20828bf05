import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { Refusal } from '../../src/core/errors.ts';
import { DatabaseInUse } from '../../src/db/database.ts';
import { declareRestored } from '../../src/db/move-store.ts';
import { APPROVALS, REQUEST } from '../../src/requests/request.ts';
import { type Place, places } from './places.ts';
import {
  confirm,
  entry,
  leaseOperation,
  makeFolder,
  newApproval,
  newCreate,
  newDelete,
  newRenew,
  sentBy,
  stillSystem,
  T0,
  vault,
} from './support.ts';

const RESTORED = new Refusal('restored', {});
const code = { code: 'restored', details: {} };

describe.each(places)('a database that was restored, on $name,', ({ make }) => {
  let place: Place;
  let store: Store;
  let spillDir: string;
  beforeEach(async () => {
    place = await make();
    spillDir = join(makeFolder(), 'answers');
    store = await place.open({ spillDir });
    await store.workspaces.put({ id: 'T1', name: 'Acme' });
  });

  /** As by a process that has looked up what permits it. */
  const sendAs = async (owner: string, id: string, knownIds: readonly number[] = []) => {
    await leaseOperation(store, id, { owner, now: T0, until: T0 + 9 });
    const permit = await store.ledger.readPermit('T1', T0);
    const earlierSends = await store.ledger.countSends({ id, workspaceId: 'T1' }, ['a']);
    return store.ledger.markSent(id, sentBy(owner, T0, { knownIds, earlierSends, permit }));
  };
  const send = async (operation = newCreate()) => {
    await confirm(store.ledger, operation);
    expect(await sendAs('a', operation.id, [3])).toBe('sent');
    return operation;
  };
  const declare = async () => {
    await store.close();
    const { url: databaseUrl, openEngine } = place;
    const restored = await declareRestored({ databaseUrl, openEngine, vault, system: stillSystem });
    store = await place.open({ spillDir });
    return restored;
  };

  describe('as its operator says,', () => {
    test('sends nothing that was confirmed before: it is unconfirmed, audited, and looked for at once', async () => {
      const [prepared, renewal, ended] = [newCreate('web-1'), newRenew(), await send(newCreate('web-9'))];
      await store.ledger.settle(ended.id, { at: T0, serverId: 7 }, entry({ operationId: ended.id }));
      for (const each of [prepared, renewal]) await confirm(store.ledger, each);
      const sent = await send(newCreate('web-2'));
      await store.workspaces.put({ id: 'T2', name: 'Other' });
      expect(await declare()).toEqual({ orders: 3, approvals: 0 });
      const doubt = { state: 'unconfirmed', reason: code, notifiedAt: undefined };
      for (const { id } of [prepared, renewal])
        expect(await store.ledger.find(id)).toMatchObject({ ...doubt, needsDecision: true });
      expect(await store.ledger.find(sent.id)).toMatchObject({
        ...{ ...doubt, needsDecision: false, knownIds: [3] },
      });
      expect(await store.ledger.find(ended.id)).toMatchObject({ state: 'settled' });
      for (const { id } of [prepared, renewal, sent, ended]) expect(await sendAs('b', id)).toBe('refused');
      const jobs = await store.jobStore.list('operation', 'T1');
      expect(jobs).toContainEqual(expect.objectContaining({ key: sent.id, revision: 2 }));
      const entries = await store.audit.list({ workspaceId: 'T1', limit: 9 });
      expect(entries.find(({ operationId }) => operationId === sent.id)).toMatchObject({
        ...{ action: 'create', actorId: 'U1', surface: 'cli', outcome: 'in_doubt' },
        ...{ code: 'restored', label: 'web-2' },
      });
      const declared = { action: 'restore', actorId: 'command line', surface: 'cli', outcome: 'done' };
      expect(entries).toContainEqual(expect.objectContaining(declared));
      for (const workspaceId of ['T1', 'T2'])
        expect(await store.audit.verify(workspaceId)).toMatchObject({ ok: true });
    });

    test('keeps the claim of a renewal: the same month is not confirmed again', async () => {
      const renewal = newRenew();
      await confirm(store.ledger, renewal);
      await declare();
      expect(await confirm(store.ledger, newRenew())).toMatchObject({
        kind: 'known',
        operation: { id: renewal.id },
      });
    });

    test('refuses what is confirmed in a form from before, for good, and shows the one that it knows', async () => {
      const known = newCreate('web-1');
      const [old, oldApproval] = [newCreate('web-2'), newApproval()];
      await confirm(store.ledger, known);
      await declare();
      await expect(confirm(store.ledger, old)).rejects.toThrow(RESTORED);
      await expect(store.requests.requestApproval(oldApproval, entry())).rejects.toThrow(RESTORED);
      expect(await store.ledger.find(old.id)).toBeUndefined();
      expect(await store.requests.find(oldApproval.id, APPROVALS)).toBeUndefined();
      expect(await confirm(store.ledger, known)).toMatchObject({ kind: 'known' });
      await store.close();
      store = await place.open({ spillDir });
      await expect(confirm(store.ledger, old)).rejects.toThrow(RESTORED);
      expect(await confirm(store.ledger, newCreate('web-3'))).toMatchObject({ kind: 'new' });
    });

    test('cancels requests for approval, and makes deletes that have not ended unconfirmed', async () => {
      const approvals = [newApproval(), newApproval(newDelete(7)), newApproval(newDelete(8))];
      const [open, approved, sent] = approvals;
      for (const each of approvals) await store.requests.requestApproval(each, entry());
      for (const each of [approved, sent])
        if (each) await store.requests.approve(each.id, { by: 'U9', at: T0 }, entry());
      expect(await sendAs('a', sent?.id ?? '')).toBe('sent');
      expect(await declare()).toEqual({ orders: 2, approvals: 1 });
      const found = await store.requests.find(open?.id ?? '', APPROVALS);
      expect(found).toMatchObject({ state: 'canceled', reason: 'restored', isNotified: false });
      for (const each of [approved, sent]) {
        const deletion = await store.ledger.findDelete(each?.id ?? '');
        expect(deletion).toMatchObject({ state: 'unconfirmed', reason: code });
        expect(deletion?.notifiedAt).toBeUndefined();
      }
      const jobs = await store.jobStore.list(REQUEST, 'T1');
      expect(jobs.map(({ key }) => key)).toContain(open?.id);
      expect(await store.requests.approve(open?.id ?? '', { by: 'U9', at: T0 + 3 }, entry())).toBeUndefined();
    });
  });

  test('says at the start where answers to paid orders can’t be kept, and pays all the same', async () => {
    await store.close();
    rmSync(spillDir, { recursive: true });
    writeFileSync(spillDir, 'a file where the folder should be');
    store = await place.open({ spillDir });
    expect(store.notes).toEqual([expect.stringMatching(/^The folder .+ can't be written to/)]);
    await send();
    rmSync(spillDir);
    mkdirSync(spillDir);
  });
});

test.each(
  places,
)('a restore is not declared while an app runs on $name, nor does one start meanwhile', async ({ make }) => {
  const place = await make();
  const { url: databaseUrl, openEngine } = place;
  const declaration = { databaseUrl, openEngine, vault, system: stillSystem };
  const apps = [await place.open()];
  // On PostgreSQL, several may run.
  if (databaseUrl.startsWith('postgres')) apps.push(await place.open());
  for (const app of apps) {
    await expect(declareRestored(declaration)).rejects.toThrow(DatabaseInUse);
    await app.close();
  }
  const engine = await openEngine(databaseUrl, { lock: true, mustExist: true, system: stillSystem });
  await expect(place.open()).rejects.toThrow(/in use by another process|"vps-slack store restored" is using/);
  await engine.close();
  expect(await declareRestored(declaration)).toEqual({ orders: 0, approvals: 0 });
  await place.open();
});
