import { join } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import fc from 'fast-check';
import { onTestFinished } from 'vitest';
import type { Store } from '../../../src/context.ts';
import type { AuditEntry } from '../../../src/core/audit-entry.ts';
import { money } from '../../../src/core/money.ts';
import { openStore } from '../../../src/db/open-store.ts';
import { createVault, parseKeyring, type Vault } from '../../../src/db/vault.ts';
import { makeKey } from '../../support/keys.ts';
import { makeFolder, stillSystem, T0, vault } from '../support.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 30 });
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

/** Entries as anybody may cause them, in one workspace. */
export const anyEntry: fc.Arbitrary<AuditEntry> = fc
  .record({
    at: fc.integer({ min: T0, max: T0 + 1e9 }),
    actorId: anyText,
    channelId: maybe(anyText),
    surface: fc.constantFrom('command', 'button', 'page', 'background'),
    action: anyText,
    actId: anyText,
    serverId: maybe(fc.nat()),
    label: maybe(anyText),
    outcome: fc.constantFrom('started', 'done', 'failed', 'denied', 'in_doubt'),
    code: maybe(anyText),
    operationId: maybe(anyText),
    money: maybe(fc.nat().map(money)),
  })
  .map((drawn) => {
    const given = Object.entries(drawn).filter(([, value]) => value !== undefined);
    return { workspaceId: 'T1', ...Object.fromEntries(given) } as unknown as AuditEntry;
  });

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
  const open = async (by: Vault = vault): Promise<Store> => {
    const store = await openStore({ databaseUrl: `sqlite:${path}`, vault: by, system: stillSystem });
    onTestFinished(() => store.close());
    return store;
  };
  return {
    open,
    /** Has the app use these keys once: afterwards one of them is enough for it to start. */
    introduce: async (...ids: readonly string[]): Promise<void> => (await open(vaultOf(...ids))).close(),
    bySql: <Result>(work: (db: DatabaseSyncInstance) => Result): Result => {
      const db = new DatabaseSync(path);
      try {
        db.exec('pragma synchronous = off');
        return work(db);
      } finally {
        db.close();
      }
    },
  };
}

/** Keeps the audit's tables beside themselves, so that one database serves many forgeries. */
export const SNAPSHOT = `
  create table kept_entries as select * from audit;
  create table kept_chains as select * from audit_chains`;
export const RESTORE = `
  delete from audit; insert into audit select * from kept_entries;
  delete from audit_chains; insert into audit_chains select * from kept_chains`;
