import { execFile } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSentences } from '../src/log.ts';
import { createIds, realSystem } from '../src/system.ts';
import { makeDice } from './support/tries.ts';

const times = fc.integer({ min: 1, max: 2 ** 48 - 1 });
const seeds = fc.integer();

describe('an ID', () => {
  it('sorts by the time at which it was made, whatever its random part', () => {
    const idAt = (now: number, seed: number) => createIds(() => now, makeDice(seed).next)();
    fc.assert(
      fc.property(times, times, seeds, seeds, (a, b, seedA, seedB) => {
        if (a < b) expect(idAt(a, seedA) < idAt(b, seedB)).toBe(true);
      }),
    );
  });

  it('is greater than every earlier one, even within one millisecond or when the clock is set back', () => {
    fc.assert(
      fc.property(fc.array(times, { minLength: 2, maxLength: 50 }), seeds, (clock, seed) => {
        let tick = 0;
        const newId = createIds(() => clock[tick++] ?? 1, makeDice(seed).next);
        const ids = clock.map(() => newId());
        expect(ids).toEqual([...ids].sort());
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });
});

it('a sleep ends at once, with an AbortError, when it is aborted', async () => {
  const stop = new AbortController();
  const waiting = realSystem.sleep(60_000, stop.signal);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
});

/** `at` is in seconds; of Pino's levels, 30 is info, and 40 (default) is warn. */
type Line = { readonly at: number; readonly msg: string; readonly [field: string]: unknown };

/** What a terminal shows of these lines. */
function show(...lines: readonly Line[]): string {
  const describe = createSentences();
  return lines
    .map(({ at, level = 40, ...rest }) =>
      describe(JSON.stringify({ level, time: new Date(at * 1000), ...rest })),
    )
    .join('');
}

it('a line of the log is a sentence on a terminal, with its fields and without its stack', () => {
  expect(show({ at: 0, msg: 'a job failed', kind: 'pay', name: 'TypeError', stack: '    at pay.ts:1' })).toBe(
    'A job failed (kind pay, name TypeError).\n',
  );
  expect(show({ at: 0, level: 30, msg: 'Next: run /vps connect.' })).toBe('Next: run /vps connect.\n');
});

it('a problem is said again after ten minutes, or once something has gone well', () => {
  const problem = (at: number) => ({ at, msg: 'Slack can’t be reached' });
  const seen = (...lines: readonly Line[]) => show(...lines).match(/reached/g)?.length;
  expect(seen(problem(0), problem(5), { at: 7, msg: 'something else' }, problem(599))).toBe(1);
  expect(seen(problem(0), problem(600))).toBe(2);
  expect(seen(problem(0), { at: 1, level: 30, msg: 'connected to Slack' }, problem(5))).toBe(2);
});

it('a name from outside does not control the terminal', () => {
  expect(show({ at: 0, msg: 'connected', name: 'Acme\u001b[2J\u202e\n' })).toBe(
    'Connected (name Acme [2J ).\n',
  );
});

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
