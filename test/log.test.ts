import { expect, it } from 'vitest';
import { createSentences } from '../src/log.ts';

interface Line {
  /** In seconds. */
  readonly at: number;
  /** Pino's: 30 is info, 40 (default) is warn. */
  readonly level?: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

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
