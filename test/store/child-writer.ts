import { Secret } from '../../src/domain/secret.ts';
import { openStore } from '../../src/store/open-store.ts';
import { realSystem } from '../../src/system.ts';
import { entry, markSent, newCreate, vault } from './fixtures.ts';

/** Runs as a process of its own: writes for ever, and prints what was committed until it is killed. */
const [, , databaseUrl = ''] = process.argv;
const store = await openStore({ databaseUrl, vault, system: realSystem });
for (let serverId = 1; ; serverId++) {
  const operation = newCreate();
  await store.ledger.prepare(operation);
  await say(`prepared ${operation.id}`);
  await markSent(store.ledger, operation.id, realSystem.now(), []);
  await say(`sent ${operation.id}`);
  const password = new Secret(`password of ${operation.id}`);
  await store.ledger.settle(operation.id, { at: realSystem.now(), serverId, password }, entry());
  await say(`settled ${operation.id}`);
}

function say(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()));
}
