import { Readable } from 'node:stream';
import { audit } from '../../src/cli/audit.ts';
import { doctor } from '../../src/cli/doctor.ts';
import { key } from '../../src/cli/key.ts';
import type { Program } from '../../src/cli/program.ts';
import { store } from '../../src/cli/store.ts';
import { vps } from '../../src/cli/vps.ts';
import type { Dice } from '../attacks/support/tries.ts';
import type { Arena } from './arena.ts';
import { damage, oddText } from './mutate.ts';

const PROGRAMS: Readonly<Record<string, Program>> = { audit, doctor, key, store, vps };

/** What may be typed, all of it harmless when it is not malformed. */
const TYPED: readonly (readonly string[])[] = [
  ['vps', 'list'],
  ['vps', 'list', 'web', '--json'],
  ['vps', 'show', 'web-1', '--workspace', 'T0SANDBOX'],
  ['vps', 'reboot', 'web-1'],
  ['key', 'list', '--json'],
  ['key', 'set'],
  ['key', 'rotate', '--dry-run'],
  ['key', 'remove', '--workspace', 'T0NOWHERE'],
  [
    'audit',
    'export',
    '--format',
    'csv',
    '--since',
    '2026-01-01',
    '--actor',
    'U0OWNER001',
    '--server',
    'web-1',
  ],
  ['audit', 'export', '--format', 'json', '--until', '2027-01-01T00:00:00Z'],
  ['audit', 'verify', '--workspace', 'T0SANDBOX', '--head', '1:aaaaaaaa'],
  ['audit', 'prune', '--older-than-days', '3650'],
  ['store', 'copy', '--to', 'postgres://127.0.0.1:9/none'],
  ['store', 'restored', '--json'],
  ['doctor', '--json', '--backup', 'none.sqlite'],
];

/** The words behind `vps-slack`, some of them missing, twice, elsewhere, or something else. */
export function makeArguments(dice: Dice): { name: string; args: readonly string[] } {
  const [name = 'vps', ...typed] = dice.pick(TYPED) ?? [];
  let args = [...typed];
  for (let time = 0; time < 1 + dice.number(3); time++) {
    const at = dice.number(args.length + 1);
    const before = args[at] ?? '';
    const kinds: readonly (readonly string[])[] = [
      [],
      [before, before],
      [oddText(dice)],
      [before, oddText(dice)],
      [damage(before, dice)],
      [`${before}=${oddText(dice)}`],
      [
        dice.pick(['--', '-', '--=', '-x', '--json=1', '--__proto__', '--no-json', '--workspace']) ?? '--',
        before,
      ],
    ];
    args = [...args.slice(0, at), ...(dice.pick(kinds) ?? []), ...args.slice(at + 1)];
  }
  // What is removed, added or typed on a terminal is meant; and no other machine is asked for anything.
  const isMeant =
    name === 'key' && args.some((word) => word.includes('remove')) && !args.includes('T0NOWHERE');
  const isFar =
    args.some((word) => word.includes('postgres')) && !args.includes('postgres://127.0.0.1:9/none');
  return { name, args: isMeant || isFar ? ['--help-me', ...args] : args };
}

/** Errors that are no sentence for an operator. */
const DEFECTS = /^(?:Type|Range|Reference|Syntax|Zod|Assertion|URI|Eval)Error|\n\s+at /;

let last: Promise<unknown> = Promise.resolve();

/** Runs a program in this process, one at a time: all of them share its environment and its output. */
export function judgeArguments(
  arena: Arena,
  name: string,
  args: readonly string[],
): Promise<readonly string[]> {
  const run = last.then(() => runAlone(arena, name, args));
  last = run.catch(() => undefined);
  return run;
}

async function runAlone(
  { team, secrets }: Arena,
  name: string,
  args: readonly string[],
): Promise<readonly string[]> {
  const { stdin, stdout, stderr, env } = process;
  const written: string[] = [];
  const own = { stdin: Readable.from(['no key']), env: { ...team.environment, USER: 'fuzz' } };
  const write = (text: string | Uint8Array, ...more: unknown[]) => {
    written.push(String(text));
    const done = more.find((one) => typeof one === 'function');
    if (done) done();
    return true;
  };
  const writes = [stdout.write, stderr.write] as const;
  Object.defineProperty(process, 'stdin', { value: own.stdin, configurable: true });
  process.env = own.env;
  stdout.write = write;
  stderr.write = write;
  const faults: string[] = [];
  try {
    await PROGRAMS[name]?.run(args);
  } catch (error) {
    const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    written.push(words);
    if (DEFECTS.test(words)) faults.push(`ends with ${error instanceof Error ? error.stack : words}`);
  } finally {
    Object.defineProperty(process, 'stdin', { value: stdin, configurable: true });
    process.env = env;
    [stdout.write, stderr.write] = writes;
    process.exitCode = 0;
  }
  const output = written.join('');
  const shown = Object.entries(secrets).filter(([, secret]) => secret !== '' && output.includes(secret));
  return [...faults, ...shown.map(([what]) => `shows ${what}`)];
}
