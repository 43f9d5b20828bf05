import { expect, test } from 'vitest';
import { type Ended, runProgram } from '../support/programs.ts';

const ended = new Map<string, Promise<Ended>>();

/** Runs it once: what a program prints depends on its arguments alone. */
function run(...args: readonly string[]): Promise<Ended> {
  const typed = args.join(' ');
  const first = ended.get(typed) ?? runProgram(args);
  ended.set(typed, first);
  return first;
}

const PROGRAMS = ['start', 'doctor', 'key', 'audit', 'store', 'vps'];

test('vps-slack --help lists every command, and without one the list goes to standard error', async () => {
  const help = await run('--help');
  expect(help).toMatchObject({ code: 0, output: expect.stringMatching(/^Usage: vps-slack/), words: '' });
  expect([...help.output.matchAll(/^ {2}(\w+) {2,}[A-Z]/gm)].map(([, name]) => name)).toEqual(PROGRAMS);
  expect(await run()).toMatchObject({ code: 2, output: '', words: `Choose a command.\n\n${help.output}` });
  const wrong = await run('toString');
  expect(wrong).toMatchObject({ code: 2, output: '' });
  expect(wrong.words).toContain('There\'s no command "toString" of vps-slack.\n\nUsage');
});

test.each(
  PROGRAMS,
)('vps-slack %s --help shows the usage, before or after a command, and needs no settings', async (name) => {
  const [alone, ...others] = await Promise.all(
    [['--help'], ['-h'], ['list', '--help']].map((args) => run(name, ...args)),
  );
  expect(alone).toMatchObject({ code: 0, output: expect.stringMatching(/^Usage/), words: '' });
  expect(alone?.output).toMatch(new RegExp(`vps-slack ${name}`));
  expect(alone?.output).toContain('--json');
  for (const other of others) expect(other).toEqual(alone);
});

test.each([
  ['start --hlep', "Unknown option '--hlep'."],
  ['doctor --hlep', "Unknown option '--hlep'."],
  ['key --hlep', "Unknown option '--hlep'."],
  ['key', 'Choose set, remove, list or rotate.'],
  ['key sett --workspace T1', 'There\'s no command "sett".'],
  ['key toString --workspace T1', 'There\'s no command "toString".'],
  ['key set --workspace acme', '"acme" is not a workspace ID.'],
  ['key list all', 'Unexpected argument: all'],
  ['vps', 'Choose list, show, start, stop or reboot.'],
  ['vps delete web-1', 'There\'s no command "delete".'],
  ['vps reboot', 'Which server?'],
  ['vps reboot --yes', 'Which server?'],
  ['vps reboot web 1 --yes', 'Unexpected argument: 1.'],
  ['vps list --workspace acme', '"acme" is not a workspace ID.'],
  ['audit', 'Add --format csv or jsonl.'],
  ['audit --format xml', 'There\'s no format "xml". Choose csv or jsonl.'],
  ['audit --format toString', 'There\'s no format "toString".'],
  ['audit export', 'Add --format csv or jsonl.'],
  ['audit delete --format csv', 'There\'s no command "delete".'],
  ['audit verify everything', 'Unexpected argument: everything'],
  ['audit verify --workspace acme', '"acme" is not a workspace ID.'],
  ['audit verify --head 1:v1.k1.abc', 'Use --head with exactly one --workspace.'],
  ['audit verify --workspace T1 --head newest', '--head needs the number and the signature'],
  ['audit --format csv --since yesterday', '--since needs a day such as 2026-01-31, not "yesterday".'],
  ['audit --format csv --until 2026-02-31', '--until needs a day'],
  ['store', 'Choose copy or restored.'],
  ['store move', 'There\'s no command "move". Choose copy or restored.'],
  ['store restored --to x', 'restored takes no --to.'],
  ['store restored yesterday', 'Unexpected argument: yesterday'],
  ['store copy', 'Add --to with the address of the PostgreSQL database to copy to.'],
])('vps-slack %s prints what is wrong, and then the usage', async (typed, problem) => {
  const [name = '', ...args] = typed.split(' ');
  const { output: usage } = await run(name, '--help');
  const { code, output, words } = await run(name, ...args);
  expect({ code, output }).toEqual({ code: 2, output: '' });
  expect(words.split('\n\n')[0]).toContain(problem);
  expect(words.endsWith(`\n\n${usage}`)).toBe(true);
});
