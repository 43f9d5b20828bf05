import { execFile } from 'node:child_process';
import { describe, expect, test } from 'vitest';

/** Runs a built program, without any setting. */
function run(name: string, args: readonly string[]) {
  return new Promise<{ code: number; output: string; words: string }>((resolve) => {
    const env = { PATH: process.env.PATH };
    execFile(process.execPath, [`dist/bundled/cli/${name}.js`, ...args], { env }, (error, output, words) =>
      resolve({ code: Number(error?.code ?? 0), output, words }),
    );
  });
}

describe.each(['vps', 'audit', 'store', 'key'])('npm run %s', (name) => {
  test('-- --help shows the usage, before or after a command, and needs no settings', async () => {
    const [alone, ...others] = await Promise.all(
      [['--help'], ['-h'], ['list', '--help']].map((args) => run(name, args)),
    );
    expect(alone).toEqual({ code: 0, output: expect.stringMatching(/^Usage/), words: '' });
    expect(alone?.output).toMatch(new RegExp(`\n  npm run (-s )?${name} -- `));
    for (const other of others) expect(other).toEqual(alone);
  });

  test('prints the same usage to standard error for wrong arguments, and exits with 2', async () => {
    const { output } = await run(name, ['--help']);
    const wrong = await run(name, ['--hlep']);
    expect(wrong).toEqual({ code: 2, output: '', words: `Unknown option '--hlep'.\n\n${output}` });
  });
});
