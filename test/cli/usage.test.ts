import { expect, test } from 'vitest';
import { audit } from '../../src/cli/audit.ts';
import { doctor } from '../../src/cli/doctor.ts';
import { key } from '../../src/cli/key.ts';
import { store } from '../../src/cli/store.ts';
import { vps } from '../../src/cli/vps.ts';
import { runProgram } from '../support/programs.ts';

const PROGRAMS = ['start', 'doctor', 'key', 'audit', 'store', 'vps'];

test('vps-slack --help lists every command, and without one the list goes to standard error', async () => {
  const help = await runProgram(['--help']);
  expect(help).toMatchObject({ code: 0, output: expect.stringMatching(/^Usage: vps-slack/), words: '' });
  expect([...help.output.matchAll(/^ {2}(\w+) {2,}[A-Z]/gm)].map(([, name]) => name)).toEqual(PROGRAMS);
  const none = { code: 2, output: '', words: `Choose a command.\n\n${help.output}` };
  expect(await runProgram([])).toMatchObject(none);
  const wrong = await runProgram(['toString']);
  expect(wrong).toMatchObject({ code: 2, output: '' });
  expect(wrong.words).toContain('There\'s no command "toString" of vps-slack.\n\nUsage');
});

test.each(PROGRAMS)('vps-slack %s --help shows the usage, and needs no settings', async (name) => {
  const help = await runProgram([name, '--help']);
  expect(help).toMatchObject({ code: 0, output: expect.stringMatching(/^Usage/), words: '' });
  expect(help.output).toMatch(new RegExp(`vps-slack ${name}`));
  expect(help.output).toContain('--json');
});

test('a wrong option is named before the usage, which -h after a command shows, too', async () => {
  const { output: usage } = await runProgram(['start', 'now', '-h']);
  const words = `Unknown option '--hlep'.\n\n${usage}`;
  expect(await runProgram(['start', '--hlep'])).toMatchObject({ code: 2, output: '', words });
});

const programs = { doctor, key, vps, audit, store };

test.each([
  ['doctor --hlep', "Unknown option '--hlep'."],
  ['key', 'Choose set, remove, list or rotate.'],
  ['key toString --workspace T1', 'There\'s no command "toString".'],
  ['key set --workspace acme', '"acme" is not a workspace ID.'],
  ['key list all', 'Unexpected argument: all'],
  ['vps', 'Choose list, show, start, stop or reboot.'],
  ['vps delete web-1', 'There\'s no command "delete".'],
  ['vps reboot --yes', 'Which server?'],
  ['vps reboot web 1 --yes', 'Unexpected argument: 1.'],
  ['vps list --workspace acme', '"acme" is not a workspace ID.'],
  ['audit export', 'Add --format csv or jsonl.'],
  ['audit --format toString', 'There\'s no format "toString". Choose csv or jsonl.'],
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
])('vps-slack %s is refused before anything is opened: %s', async (typed, problem) => {
  const [name = '', ...args] = typed.split(' ');
  const refused = programs[name as keyof typeof programs].run(args);
  await expect(refused).rejects.toMatchObject({
    name: 'UsageError',
    message: expect.stringContaining(problem),
  });
});
