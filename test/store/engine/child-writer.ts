import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '../../../src/core/secret.ts';
import { openStore } from '../../../src/db/open-store.ts';
import { realSystem } from '../../../src/system.ts';
import { entry, newApproval, newCreate, newGrant, sentBy, T0, vault } from '../fixtures.ts';

/** Runs as a process of its own: writes for ever, and prints what was committed until it is killed. */
const [, , databaseUrl = '', what = 'operations'] = process.argv;
const store = await openStore({
  databaseUrl,
  vault,
  system: realSystem,
  spillDir: join(tmpdir(), 'vps-slack-tests.spill'),
});
const write = what === 'operations' ? writeOperation : writeDecisions;
for (let count = 1; ; count++) await write(count);

async function writeOperation(serverId: number): Promise<void> {
  const operation = newCreate('web-1', { at: realSystem.now() });
  await store.ledger.prepare(operation);
  await say(`prepared ${operation.id}`);
  const now = realSystem.now();
  await store.ledger.lease(operation.id, { owner: 'writer', now, until: now + 60_000 });
  await store.ledger.markSent(operation.id, sentBy('writer', now));
  await say(`sent ${operation.id}`);
  const password = new Secret(`password of ${operation.id}`);
  await store.ledger.settle(operation.id, { at: realSystem.now(), serverId, password }, entry());
  await say(`settled ${operation.id}`);
}

/** An approval and a request, both approved; the person's id is the request's. */
async function writeDecisions(): Promise<void> {
  const approval = newApproval();
  await store.requests.requestApproval(approval, entry());
  await say(`asked ${approval.id}`);
  await store.requests.approve(approval.id, { by: 'U9', at: T0 }, entry());
  await say(`approved ${approval.id}`);
  const id: string = newApproval().id;
  const role = { kind: 'role', role: 'viewer', pattern: '', reason: 'why', expiresAt: T0 + 1 } as const;
  await store.requests.requestRole(
    { id, workspaceId: 'T1', requesterId: id, ...role, requestedAt: T0 },
    { since: 0, most: 9 },
  );
  await say(`requested ${id}`);
  await store.requests.grantRole(id, { by: 'U9', at: T0, grant: newGrant({ subjectId: id }) });
  await say(`granted ${id}`);
}

function say(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()));
}
