import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';

/** Runs a program that does this after it has asked for uncaught failures to be logged. */
function run(program: string): Promise<{ code: number; output: string; errors: string }> {
  const source = `
    import { createLog } from './src/log.ts';
    import { logUncaught } from './src/log.ts';
    logUncaught(process, createLog('info'), (code) => process.exit(code));
    ${program}`;
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', source],
      (error, output, errors) => resolve({ code: Number(error?.code ?? 0), output, errors }),
    );
  });
}

it('a rejected promise that nothing awaits is logged without its message, and the process goes on', async () => {
  const { code, output, errors } = await run(
    `Promise.reject(new TypeError('a-secret')); setTimeout(() => process.stdout.write('still here'), 50);`,
  );
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  expect(output).toContain('TypeError');
  expect(output).toContain('still here');
  expect(output).not.toContain('a-secret');
});

it('an exception that nothing catches is logged without its message, and ends the process with exit code 1', async () => {
  const { code, output, errors } = await run(
    `setTimeout(() => { throw new TypeError('a-secret'); }, 1); setTimeout(() => process.stdout.write('still here'), 5000);`,
  );
  expect({ code, errors }).toEqual({ code: 1, errors: '' });
  expect(output).toContain('TypeError');
  expect(output).not.toMatch(/a-secret|still here/);
});
