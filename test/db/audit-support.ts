import { join } from 'node:path';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import fc from 'fast-check';
import type { Store } from '../../src/context.ts';
import type { AuditEntry } from '../../src/core/audit-entry.ts';
import { money } from '../../src/core/money.ts';
import { createVault, parseKeyring, type Vault } from '../../src/db/vault.ts';
import { anyText } from '../support/any-text.ts';
import { makeKey } from '../support/environment.ts';
import { bySql, entry, makeFolder, open as openStore, T0, vault } from './support.ts';

const shortText = anyText({ maxLength: 30 });
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

/** Entries as anybody may cause them, in one workspace. */
export const anyEntry: fc.Arbitrary<AuditEntry> = fc
  .record({
    at: fc.integer({ min: T0, max: T0 + 1e9 }),
    actorId: shortText,
    channelId: maybe(shortText),
    surface: fc.constantFrom('command', 'button', 'page', 'background'),
    action: shortText,
    actId: shortText,
    serverId: maybe(fc.nat()),
    label: maybe(shortText),
    outcome: fc.constantFrom('started', 'done', 'failed', 'denied', 'in_doubt'),
    code: maybe(shortText),
    operationId: maybe(shortText),
    money: maybe(fc.nat().map(money)),
    details: maybe(fc.record({ kind: fc.constant('id'), id: shortText })),
  })
  .map((drawn) => ({ workspaceId: 'T1', ...drawn }) as unknown as AuditEntry);

/** Adds entries at T0 + 1, T0 + 2 … */
export async function addTimed(
  { audit }: Store,
  count: number,
  more: Partial<AuditEntry> = {},
): Promise<void> {
  const all = Array.from({ length: count }, (_, n) => entry({ at: T0 + n + 1, ...more }));
  // One after the other: engines with several writers give no order to others.
  for (const one of all) await audit.add(one);
}

/** A vault of the named keys; the first signs. */
export function vaultOf(...ids: readonly string[]): Vault {
  const entries = ids.map((id) => `${id}:${makeKey(id)}`);
  return createVault(parseKeyring(entries.join(',')));
}

/** A vault whose key only has the same name as another one. */
export function vaultNamed(id: string): Vault {
  return createVault(parseKeyring(`${id}:${makeKey('other')}`));
}

/** A database file, and an attacker who can write it behind the store's back. */
export function makeDatabase() {
  const path = join(makeFolder(), 'vps.sqlite');
  const open = (by: Vault = vault) => openStore(`sqlite:${path}`, { vault: by });
  const byAttacker = <Result>(work: (db: DatabaseSyncInstance) => Result): Promise<Result> =>
    bySql(path, (db) => {
      db.exec('pragma synchronous = off');
      return work(db);
    });
  const exec = (...statements: readonly string[]) => byAttacker((db) => db.exec(statements.join(';')));
  return {
    open,
    bySql: byAttacker,
    exec,
    /** Has the app use these keys once: afterwards one of them is enough for it to start. */
    introduce: async (...ids: readonly string[]): Promise<void> => (await open(vaultOf(...ids))).close(),
    /** Adds entries as an app does that has this key alone. */
    add: async (count: number, keyId: string): Promise<void> => {
      const store = await open(vaultOf(keyId));
      await addTimed(store, count);
      await store.close();
    },
    /** Keeps the audit's tables beside themselves, so that they can be put back. */
    keep: () =>
      exec(
        ...TABLES.flatMap((table) => [
          `drop table if exists kept_${table}`,
          `create table kept_${table} as select * from ${table}`,
        ]),
      ),
    putBack: (tables: readonly string[] = TABLES) =>
      exec(
        ...tables.flatMap((table) => [
          `delete from ${table}`,
          `insert into ${table} select * from kept_${table}`,
        ]),
      ),
  };
}

export const TABLES = ['audit', 'audit_heads'] as const;
