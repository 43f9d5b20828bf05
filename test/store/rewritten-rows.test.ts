import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { triesOf } from '../attacks/support/tries.ts';
import { entry, makeFolder, markSent, newCreate, open, T0, vault } from './support.ts';

const PASSWORD = 'hunter2';

function bySql(path: string, sql: string, ...parameters: (string | number)[]): void {
  const db = new DatabaseSync(path);
  db.prepare(sql).run(...parameters);
  db.close();
}

/** A server that U1 created and an API key that U1 set, in a file that others can write. */
async function startHeld() {
  const path = join(makeFolder(), 'vps.sqlite');
  const store = await open(`sqlite:${path}`);
  const operation = newCreate('web-1');
  await store.ledger.prepare(operation);
  await markSent(store.ledger, operation.id, T0);
  const settled = { at: T0, serverId: 7, password: new Secret(PASSWORD) };
  const audit = entry({ actorId: 'U1', action: 'create', operationId: operation.id, label: 'web-1' });
  await store.ledger.settle(operation.id, settled, { ...audit, outcome: 'done' });
  await store.apiKeys.put('T1', new Secret('api-key'), 'U1', T0);
  return { path, store, id: operation.id };
}

describe('an attacker who can write the database, but has no key', () => {
  const anyForgery = fc.oneof(
    fc.tuple(fc.constantFrom('creator_id', 'label'), fc.stringMatching(/^[A-Z0-9]{2,11}$/)),
    fc.tuple(fc.constant('server_id'), fc.integer({ min: 8, max: 1e9 })),
  );

  test('reads no password by changing whose it is, or which server’s', async () => {
    const { path, store, id } = await startHeld();
    await fc.assert(
      fc.asyncProperty(anyForgery, async ([column, value]) => {
        fc.pre(value !== 'U1');
        bySql(path, `update passwords set ${column} = ?`, value);
        await expect(store.passwords.find(id)).rejects.toThrow(/was altered/);
        bySql(path, "update passwords set creator_id = 'U1', label = 'web-1', server_id = 7");
      }),
      { numRuns: triesOf({ short: 20, long: 1000 }) },
    );
    expect((await store.passwords.find(id))?.password.reveal()).toBe(PASSWORD);
  });

  test('can’t let an order for another account through by changing since when a key counts', async () => {
    const { path, store } = await startHeld();
    for (const [column, value] of [
      ['set_at', T0 - 1],
      ['set_by', 'U2'],
    ] as const) {
      bySql(path, `update api_keys set ${column} = ?`, value);
      await expect(store.apiKeys.find('T1')).rejects.toThrow(/was altered/);
      bySql(path, `update api_keys set set_at = ${T0}, set_by = 'U1'`);
    }
    expect((await store.apiKeys.find('T1'))?.key.reveal()).toBe('api-key');
  });

  test('reads no password that is sealed to its row alone, without its owner', async () => {
    const { path, store, id } = await startHeld();
    const old = vault.seal(PASSWORD, { table: 'passwords', row: id, column: 'sealed', workspaceId: 'T1' });
    bySql(path, "update passwords set sealed = ?, creator_id = 'U2'", old);
    await expect(store.passwords.find(id)).rejects.toThrow(/was altered/);
  });
});
