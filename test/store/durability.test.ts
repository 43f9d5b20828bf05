import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { DatabaseInUse } from '../../src/store/errors.ts';
import { makeFolder, open } from './support.ts';

const ENOUGH_LINES = 300;

function startWriter(databaseUrl: string): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const script = fileURLToPath(new URL('./child-writer.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, databaseUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

test('a process that is killed loses nothing it said, and holds up nobody who comes after it', async () => {
  const url = `sqlite:${join(makeFolder(), 'vps.sqlite')}`;
  const child = startWriter(url);
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  const enough = new Promise<void>((resolve) => {
    reader.on('line', () => lines.length >= ENOUGH_LINES && resolve());
  });
  await once(reader, 'line');
  await expect(open(url)).rejects.toThrow(DatabaseInUse);
  const beside = await open(url, { lock: false });
  await enough;
  const closed = once(reader, 'close');
  child.kill('SIGKILL');
  await closed;
  await beside.close();

  const store = await open(url);
  const stateOf = new Map(lines.map((line) => line.split(' ').reverse() as [string, string]));
  expect(stateOf.size).toBeGreaterThan(ENOUGH_LINES / 4);
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
