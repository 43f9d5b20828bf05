import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { DatabaseUnreachable } from '../../src/core/errors.ts';
import { money } from '../../src/core/money.ts';
import type { AuditLog } from '../../src/db/audit-log.ts';
import { never, type Watch, watchDatabase } from '../support/statements.ts';
import { anyEntry } from './audit-support.ts';
import { places } from './places.ts';
import { engines, entry, T0 } from './support.ts';

describe.each(engines)('the audit on $name', ({ make }) => {
  let audit: AuditLog;
  beforeEach(async () => {
    ({ audit } = await make());
  });

  const actsOf = async (filter: Partial<Parameters<AuditLog['list']>[0]> = {}) => {
    const entries = await audit.list({ workspaceId: 'T1', limit: 100, ...filter });
    return entries.map(({ actId }) => actId);
  };

  test('stores an entry unchanged', async () => {
    const full = entry({
      channelId: 'C1',
      serverId: 7,
      label: 'Web-1',
      code: 'no_answer',
      operationId: 'op',
      money: money(499),
      details: { kind: 'workflow_key', name: 'nightly "x"\0\ud800', actions: ['stop'], pattern: '' },
    });
    await audit.add(full);
    await audit.add(entry());
    const [bare, kept] = await audit.list({ workspaceId: 'T1', limit: 9 });
    const placeOf = (found = kept) => ({ id: found?.id, seq: found?.seq, signature: found?.signature });
    expect(kept).toEqual({ ...full, ...placeOf(kept) });
    expect(bare).toEqual({ ...entry(), ...placeOf(bare) });
    await audit.add(entry({ details: { kind: 'every_role', subjectId: 'U2' } }));
    expect(await audit.list({ workspaceId: 'T1', limit: 1 })).toMatchObject([{ label: 'U2' }]);
    expect(await audit.list({ workspaceId: 'T1', limit: 1, server: 'U2' })).toEqual([]);
  });

  test('stores characters that databases can’t hold as placeholders, and still verifies', async () => {
    await audit.add(entry({ label: 'a\0b', channelId: '\ud800', actorId: 'U\udfff' }));
    const [kept] = await audit.list({ workspaceId: 'T1', limit: 1 });
    expect(kept).toMatchObject({ label: 'a\ufffdb', channelId: '\ufffd', actorId: 'U\ufffd' });
    expect(await audit.verify('T1')).toMatchObject({ ok: true, entries: 1 });
  });

  test('lists the newest first, even within one millisecond, and continues where a page ended', async () => {
    for (const actId of ['a', 'b', 'c', 'd', 'e']) await audit.add(entry({ actId }));
    const first = await audit.list({ workspaceId: 'T1', limit: 2 });
    expect(first.map(({ actId }) => actId)).toEqual(['e', 'd']);
    expect(await actsOf({ limit: 2, before: first[1]?.seq ?? 0 })).toEqual(['c', 'b']);
  });

  test('leaves out the beginning of an act once its outcome is recorded, if asked to be brief', async () => {
    for (const actId of ['a', 'b']) await audit.add(entry({ actId, outcome: 'started' }));
    await audit.add(entry({ actId: 'a', outcome: 'failed' }));
    await audit.add(entry({ actId: 'b', workspaceId: 'T2' }));
    expect(await actsOf({ isBrief: true })).toEqual(['a', 'b']);
    expect(await actsOf()).toEqual(['a', 'b', 'a']);
  });

  test('finds by user and by server, with the label in any case or the ID, and never in another workspace', async () => {
    await audit.add(entry({ actId: 'a', actorId: 'U2', label: 'ÄRGER-1', serverId: 1 }));
    await audit.add(entry({ actId: 'b', label: '1' }));
    await audit.add(entry({ actId: 'c', label: 'web-2', serverId: 2 }));
    await audit.add(entry({ actId: 'd', workspaceId: 'T2', label: 'ärger-1', serverId: 1 }));
    expect(await actsOf({ actorId: 'U2' })).toEqual(['a']);
    expect(await actsOf({ server: 'ärger-1' })).toEqual(['a']);
    expect(await actsOf({ server: '1' })).toEqual(['b', 'a']);
    expect(await actsOf({ server: '1', actorId: 'U1' })).toEqual(['b']);
    expect(await actsOf({ server: "' or 1=1 --" })).toEqual([]);
  });

  test('finds by action and by time, with an inclusive start and an exclusive end', async () => {
    for (const at of [T0, T0 + 1, T0 + 2]) await audit.add(entry({ actId: `at ${at - T0}`, at }));
    await audit.add(entry({ actId: 'no', at: T0 + 1, action: 'delete' }));
    expect(await actsOf({ actions: ['delete'] })).toEqual(['no']);
    expect(await actsOf({ since: T0 + 1 })).toEqual(['no', 'at 2', 'at 1']);
    expect(await actsOf({ until: T0 + 1 })).toEqual(['at 0']);
    expect(await actsOf({ since: T0 + 1, until: T0 + 2, actions: ['create'] })).toEqual(['at 1']);
  });

  test('reads everything, oldest first, with the same filters, even while it grows', async () => {
    const isOther = (n: number) => n % 10 === 0;
    for (let n = 0; n < 600; n++) await audit.add(entry({ actId: `${n}`, serverId: isOther(n) ? 0 : 1 }));
    const acts: string[] = [];
    for await (const { actId } of audit.read({ workspaceId: 'T1', server: '1' })) {
      if (acts.length === 0) await audit.add(entry({ actId: 'late', serverId: 1 }));
      acts.push(actId);
    }
    const wanted = Array.from({ length: 600 }, (_, n) => n).filter((n) => !isOther(n));
    // More than one page.
    expect(wanted.length).toBeGreaterThan(500);
    expect(acts).toEqual([...wanted.map(String), 'late']);
    for await (const one of audit.read({ workspaceId: 'T2' })) expect(one).toBeUndefined();
  });

  test('of any entries verifies', async () => {
    let entries = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyEntry, { maxLength: 5 }), async (some) => {
        for (const one of some) await audit.add(one);
        entries += some.length;
        const ends = entries === 0 ? { from: 0, to: 0 } : { from: 1, to: entries };
        expect(await audit.verify('T1')).toEqual({ ok: true, entries, ...ends });
      }),
      { numRuns: 30 },
    );
  });

  test('has no gap when dozens are added at once, to two workspaces, and verifies meanwhile', async () => {
    const both = ['T1', 'T2'].flatMap((workspaceId) =>
      Array.from({ length: 36 }, () => entry({ workspaceId })),
    );
    const [verdicts] = await Promise.all([
      Promise.all(Array.from({ length: 9 }, () => audit.verify('T1'))),
      ...both.map((one) => audit.add(one)),
    ]);
    expect(new Set(verdicts.map(({ ok }) => ok))).toEqual(new Set([true]));
    for (const id of ['T1', 'T2'])
      expect(await audit.verify(id)).toEqual({ ok: true, entries: 36, from: 1, to: 36 });
    expect(await audit.listWorkspaces()).toEqual(['T1', 'T2']);
  });
});

describe.each(places)('adding to the audit on $name', ({ make }) => {
  test('takes three statements, and is whole or nothing if the process dies or the database fails at any of them', async () => {
    const place = await make();
    const steps: string[] = [];
    let fate: { readonly step: string; readonly kind: 'dies' | 'fails'; struck?: () => void } | undefined;
    const watch: Watch = async ({ sql }, run, connection) => {
      const strike = async (moment: string) => {
        const step = `${moment} ${/^\w+(?: into)?(?: "\w+")?/.exec(sql)?.[0]}`;
        steps.push(step);
        if (fate?.step !== step) return;
        fate.struck?.();
        if (fate.kind === 'dies') await connection.abandon().then(never);
        throw new DatabaseUnreachable(new Error(step));
      };
      await strike('before');
      const result = await run();
      await strike('after');
      return result;
    };
    const dying = await place.open({
      openEngine: async (...args) => {
        const engine = await place.openEngine(...args);
        return { ...engine, dialect: watchDatabase(engine.dialect, watch) };
      },
    });
    await dying.audit.add(entry());
    steps.length = 0;
    await dying.audit.add(entry());
    const all = steps.filter((step) => !step.endsWith(' set'));
    expect(all.filter((step) => /^after (insert|update|select|delete)/.test(step))).toEqual([
      'after insert into "audit_heads"',
      'after insert into "audit"',
      'after update "audit_heads"',
    ]);
    let entries = 2;
    for (const kind of ['dies', 'fails'] as const)
      for (const step of all.filter((one) => kind === 'dies' || !/begin|start/.test(one))) {
        const struck = new Promise<void>((resolve) => {
          fate = { step, kind, struck: resolve };
        });
        const added = dying.audit.add(entry()).catch(() => undefined);
        await (kind === 'dies' ? struck.then(() => setImmediate()) : added);
        fate = undefined;
        if (step === 'after commit') entries++;
        expect(await dying.audit.verify('T1'), `${kind} ${step}`).toMatchObject({ ok: true, entries });
        await dying.audit.add(entry());
        entries++;
        expect(await dying.audit.verify('T1'), `${kind} ${step}`).toMatchObject({ ok: true, entries });
      }
  });
});
