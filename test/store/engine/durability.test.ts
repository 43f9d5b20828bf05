import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { DatabaseInUse } from '../../../src/db/engine.ts';
import { APPROVALS, ROLES_ASKED } from '../../../src/requests/request.ts';
import { asInTests, postgresUrl } from '../../support/postgres.ts';
import { makeFolder, makePostgres, open } from '../support.ts';

/** A commit on PostgreSQL takes several times as long. */
const enoughLines = (databaseUrl: string) => (databaseUrl.startsWith('sqlite:') ? 300 : 100);

/** Lets another process write until it has said enough, kills it, and returns the last word about each id. */
async function writeAndKill(
  databaseUrl: string,
  what: 'operations' | 'decisions',
): Promise<Map<string, string>> {
  const script = fileURLToPath(new URL('./child-writer.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, databaseUrl, what], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const most = enoughLines(databaseUrl);
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  const enough = new Promise<void>((resolve) => {
    reader.on('line', () => lines.length >= most && resolve());
  });
  await once(reader, 'line');
  if (databaseUrl.startsWith('sqlite:')) await expect(open(databaseUrl)).rejects.toThrow(DatabaseInUse);
  const beside = await open(databaseUrl, { lock: false, openEngine: asInTests });
  await enough;
  const closed = once(reader, 'close');
  child.kill('SIGKILL');
  await closed;
  await beside.close();
  const lastWord = new Map(lines.map((line) => line.split(' ').reverse() as [string, string]));
  expect(lastWord.size).toBeGreaterThan(most / 4);
  return lastWord;
}

const DATABASES = [
  { name: 'SQLite', make: async () => `sqlite:${join(makeFolder(), 'vps.sqlite')}` },
  ...(postgresUrl ? [{ name: 'PostgreSQL', make: makePostgres }] : []),
];

test.each(
  DATABASES,
)('a process that is killed loses nothing that it reported, and does not hold up the next one, on $name', async ({
  make,
}) => {
  const url = await make();
  const stateOf = await writeAndKill(url, 'operations');
  const store = await open(url, { openEngine: asInTests });
  const reached = {
    prepared: ['prepared', 'sent', 'settled'],
    sent: ['sent', 'settled'],
    settled: ['settled'],
  };
  for (const [id, state] of stateOf) {
    const operation = await store.ledger.find(id);
    expect(reached[state as keyof typeof reached]).toContain(operation?.state);
    const password = await store.passwords.find(id);
    // The password and the state are one: whichever side of the last commit the kill fell on.
    expect(password?.password.reveal()).toBe(
      operation?.state === 'settled' ? `password of ${id}` : undefined,
    );
  }
  const audited = await store.audit.list({ workspaceId: 'T1', limit: 100_000 });
  expect(audited.length).toBe((await store.passwords.listHeld('T1')).length);
});

test.each(
  DATABASES,
)('an approval before a process was killed still counts after it, with its consequences, on $name', async ({
  make,
}) => {
  const url = await make();
  const wordOf = await writeAndKill(url, 'decisions');
  const store = await open(url, { openEngine: asInTests });
  let audited = 0;
  for (const [id, word] of wordOf) {
    const [approval, request] = [
      await store.requests.find(id, APPROVALS),
      await store.requests.find(id, ROLES_ASKED),
    ];
    const state = approval?.state ?? request?.state;
    expect(word === 'asked' || word === 'requested' ? ['open', 'approved'] : ['approved']).toContain(state);
    // Either both or neither: whichever side of the last commit the kill fell on.
    const led = approval
      ? await store.ledger.find(id)
      : (await store.grants.listFor('T1', { userId: id }, 0))[0];
    expect(led !== undefined).toBe(state === 'approved');
    if (approval) audited += state === 'approved' ? 2 : 1;
  }
  // One more may have been asked for, without having been said.
  const entries = await store.audit.list({ workspaceId: 'T1', limit: 100_000 });
  expect([audited, audited + 1]).toContain(entries.length);
});
