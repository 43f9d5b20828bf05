import { beforeEach, describe, expect, test } from 'vitest';
import type { AuditLog } from '../../../src/account/ports.ts';
import { money } from '../../../src/core/money.ts';
import { engines, entry, T0 } from '../support.ts';

describe.each(engines)('the audit on $name', ({ make }) => {
  let audit: AuditLog;
  beforeEach(async () => {
    audit = (await make()).audit;
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
    });
    await audit.add(full);
    await audit.add(entry());
    const [bare, kept] = await audit.list({ workspaceId: 'T1', limit: 9 });
    const placeOf = (found = kept) => ({ id: found?.id, seq: found?.seq, signature: found?.signature });
    expect(kept).toStrictEqual({ ...full, ...placeOf(kept) });
    expect(bare).toStrictEqual({ ...entry(), ...placeOf(bare) });
  });

  test('stores characters that databases can’t hold as placeholders, and still verifies', async () => {
    await audit.add(entry({ label: 'a\0b', channelId: '\ud800', actorId: 'U\udfff' }));
    const [kept] = await audit.list({ workspaceId: 'T1', limit: 1 });
    expect(kept).toMatchObject({ label: 'a\ufffdb', channelId: '\ufffd', actorId: 'U\ufffd' });
    expect(await audit.verify('T1')).toMatchObject({ ok: true, entries: 1 });
  });

  test('lists the newest first, even within one millisecond', async () => {
    const acts = Array.from({ length: 50 }, (_, number) => `act-${number}`);
    for (const actId of acts) await audit.add(entry({ actId }));
    expect(await actsOf()).toEqual(acts.reverse());
  });

  test('continues where a page ended', async () => {
    for (const actId of ['a', 'b', 'c', 'd', 'e']) await audit.add(entry({ actId }));
    const first = await audit.list({ workspaceId: 'T1', limit: 2 });
    expect(first.map(({ actId }) => actId)).toEqual(['e', 'd']);
    expect(await actsOf({ limit: 2, before: first[1]?.id ?? '' })).toEqual(['c', 'b']);
  });

  test('finds by user and by server, with the label in any case or the ID, and never in another workspace', async () => {
    await audit.add(entry({ actId: 'a', actorId: 'U2', label: 'ÄRGER-1', serverId: 1 }));
    await audit.add(entry({ actId: 'b', label: '1' }));
    await audit.add(entry({ actId: 'c', label: 'web-2', serverId: 2 }));
    await audit.add(entry({ actId: 'd', workspaceId: 'T2', label: 'ärger-1', serverId: 1 }));
    expect(await actsOf({ actorId: 'U2' })).toEqual(['a']);
    expect(await actsOf({ server: 'ärger-1' })).toEqual(['a']);
    expect(await actsOf({ server: '1' })).toEqual(['b', 'a']);
    expect(await actsOf({ serverId: 1 })).toEqual(['a']);
    expect(await actsOf({ server: '1', actorId: 'U1' })).toEqual(['b']);
    expect(await actsOf({ server: "' or 1=1 --" })).toEqual([]);
  });

  test('finds by outcome and by time, with an inclusive start and an exclusive end', async () => {
    for (const at of [T0, T0 + 1, T0 + 2]) await audit.add(entry({ actId: `at ${at - T0}`, at }));
    await audit.add(entry({ actId: 'no', at: T0 + 1, outcome: 'denied' }));
    expect(await actsOf({ outcome: 'denied' })).toEqual(['no']);
    expect(await actsOf({ since: T0 + 1 })).toEqual(['no', 'at 2', 'at 1']);
    expect(await actsOf({ until: T0 + 1 })).toEqual(['at 0']);
    expect(await actsOf({ since: T0 + 1, until: T0 + 2, outcome: 'done' })).toEqual(['at 1']);
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

  test('offers no way to change an entry or to remove a chosen one', () => {
    const ways = ['add', 'list', 'listEnded', 'listHeads', 'listWorkspaces', 'prune', 'read', 'verify'];
    expect(Object.keys(audit).sort()).toEqual(ways);
  });
});
