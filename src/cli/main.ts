import { type Program, readArguments, runProgram, UsageError } from './program.ts';

const start: Program = {
  usage: `Usage:
  vps-slack start    starts the app, with the settings of .env in this folder and of the environment
      [--json]       logs JSON lines on a terminal, too`,
  run: async (args) => {
    const { values } = readArguments(args, { json: { type: 'boolean' } });
    // The log asks this.
    if (values.json) process.stdout.isTTY = false;
    await import('../main.ts');
  },
};

/** What `vps-slack` runs, by name. A program is loaded when it is run, so that each starts at once. */
const PROGRAMS: Readonly<Record<string, { readonly summary: string; load(): Promise<Program> }>> = {
  start: { summary: 'Start the app', load: async () => start },
  doctor: {
    summary: 'Check the whole setup, and say how to fix what’s wrong',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  key: {
    summary: 'Set or remove the API key of the hosting account',
    load: async () => (await import('./key.ts')).key,
  },
  audit: {
    summary: 'Export or verify the audit log',
    load: async () => (await import('./audit.ts')).audit,
  },
  store: {
    summary: 'Move the database to PostgreSQL, or mark it as restored from a backup',
    load: async () => (await import('./store.ts')).store,
  },
  vps: {
    summary: 'List, start, stop and reboot servers while Slack is down',
    load: async () => (await import('./vps.ts')).vps,
  },
};

const USAGE = `Usage: vps-slack <command> [options]

${Object.entries(PROGRAMS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  .join('\n')}

vps-slack <command> --help explains a command; vps-slack --version prints the version.
In a checkout of the source, "npm run key -- set" is "vps-slack key set".
Exit codes: 0 done, 1 refused or failed, 2 wrong usage.`;

const overview: Program = {
  usage: USAGE,
  run: async ([name]) => {
    throw new UsageError(
      name === undefined ? 'Choose a command.' : `There's no command "${name}" of vps-slack.`,
    );
  },
};

const [name = '', ...args] = process.argv.slice(2);
const known = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
if (known) runProgram(await known.load(), args);
else runProgram(overview, process.argv.slice(2));
