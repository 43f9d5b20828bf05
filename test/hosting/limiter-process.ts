import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openStore } from '../../src/db/open-store.ts';
import { Limiter } from '../../src/hosting/limiter.ts';
import { realSystem } from '../../src/system.ts';
import { vault } from '../db/fixtures.ts';

/**
 * Runs as a process of its own, with a wall clock that may be wrong. Reads lines like `40 key T1`, makes so many calls with this key
 * from this workspace, and prints a line when all of them are answered or one is refused; `close` closes everything.
 */
const [, , databaseUrl = '', serviceUrl = '', limit = '', windowMs = '', clockOffMs = '0'] = process.argv;
const rightClock = Date.now;
Date.now = () => rightClock() + Number(clockOffMs);
const spillDir = join(tmpdir(), 'vps-slack-tests.spill');
const store = await openStore({ databaseUrl, vault, system: realSystem, spillDir, maxProcesses: 20 });
const limiters = new Map<string, Limiter>();
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => void obey(line));
say('ready');

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function limiterOf(key: string): Limiter {
  const limiter =
    limiters.get(key) ??
    new Limiter({
      system: realSystem,
      calls: store.apiCalls,
      account: [key],
      timeoutMs: 1000,
      limit: Number(limit),
      windowMs: Number(windowMs),
    });
  limiters.set(key, limiter);
  return limiter;
}

async function obey(line: string): Promise<void> {
  if (line === 'close') {
    for (const limiter of limiters.values()) limiter.close();
    process.stdin.destroy();
    await store.close();
    return;
  }
  const [count, key = '', workspaceId = ''] = line.split(' ');
  const limiter = limiterOf(key);
  const send = async () => void (await (await fetch(`${serviceUrl}/${key}/${workspaceId}`)).text());
  const calls = Array.from({ length: Number(count) }, () =>
    limiter.run({ urgency: 'user', workspaceId, send }),
  );
  await Promise.all(calls).then(
    () => say('answered'),
    (error: { readonly code?: string }) => say(`refused ${error.code}`),
  );
}
