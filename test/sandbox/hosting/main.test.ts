import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startCaller } from './caller.ts';

const MAIN = fileURLToPath(new URL('../../../src/sandbox/hosting/main.ts', import.meta.url));
const run = (port: string) =>
  promisify(execFile)(process.execPath, ['--import', 'tsx', MAIN, '--port', port]).then(
    () => ({ code: 0, stderr: '' }),
    (failure: { code: number; stderr: string }) => ({ code: failure.code, stderr: failure.stderr }),
  );

test('prints an address, a key that works at once, and the account page, and ends on a signal', async () => {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, '--port', '0']);
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (printed.includes('curl')) break;
  }
  const baseUrl = /http:\S+\/v1\b/.exec(printed)?.[0];
  const key = /hk_[\w-]+/.exec(printed)?.[0];
  const pageUrl = /http:\S+\/account\/1/.exec(printed)?.[0] ?? '';
  const headers = { authorization: `Bearer ${key}`, connection: 'close' };
  expect((await fetch(`${baseUrl}/catalog`, { headers })).status).toBe(200);
  expect(await (await fetch(pageUrl)).text()).toContain('250.00');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('says in a sentence that a port is in use, or is none', async () => {
  const { hosting } = await startCaller();
  expect(await run(String(hosting.port))).toEqual({
    code: 1,
    stderr: `Port ${hosting.port} is in use. Choose another with --port.\n`,
  });
  const none = await run('99999');
  expect(none.code).toBe(1);
  expect(none.stderr).toMatch(/^"99999" is not a port[^\n]*\n$/);
});

test('lists its options when asked, and starts nothing', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', MAIN, '--help']);
  for (const option of ['--max-servers', '--rate', '--error-shape', '--paging', '--page-size'])
    expect(stdout).toContain(option);
  expect(stdout).not.toContain('hk_');
});
