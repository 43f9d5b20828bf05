import { type Program, print, readArguments, runProgram, UsageError } from './program.ts';

const start: Program = {
  usage: `Usage:
  vps-slack start    starts the app, with the settings of .env in this folder and of the environment
      [--json]       logs JSON lines on a terminal, too`,
  commands: [],
  options: { json: { type: 'boolean' } },
  run: async (args) => {
    const { values } = readArguments(args, { json: { type: 'boolean' } });
    // The log asks this.
    if (values.json) process.stdout.isTTY = false;
    await import('../main.ts');
  },
};

const completion: Program = {
  usage: `Usage:
  source <(vps-slack completion bash)    completes commands and options with Tab; add it to ~/.bashrc
  source <(vps-slack completion zsh)     the same for ~/.zshrc, after compinit`,
  commands: ['bash', 'zsh'],
  options: {},
  run: async (args) => {
    const [shell, ...rest] = args;
    if (rest.length > 0 || (shell !== 'bash' && shell !== 'zsh')) throw new UsageError('Choose bash or zsh.');
    print(await writeCompletion(shell));
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
  completion: { summary: 'Complete commands with Tab in bash or zsh', load: async () => completion },
};

const NAMES = Object.keys(PROGRAMS);
const USAGE = `Usage: vps-slack <command> [options]

${Object.entries(PROGRAMS)
  .map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`)
  .join('\n')}

vps-slack <command> --help explains a command; vps-slack --version prints the version.
In a checkout of the source, "npm run key -- set" is "vps-slack key set".
Exit codes: 0 done, 1 refused or failed, 2 wrong usage.`;

const overview: Program = {
  usage: USAGE,
  commands: NAMES,
  options: {},
  run: async ([name]) => {
    throw new UsageError(
      name === undefined ? 'Choose a command.' : `There's no command "${name}" of vps-slack.`,
    );
  },
};

async function writeCompletion(shell: 'bash' | 'zsh'): Promise<string> {
  const cases: string[] = [];
  for (const [name, { load }] of Object.entries(PROGRAMS)) {
    const { commands, options } = await load();
    const words = [...commands, ...[...Object.keys(options), 'help'].map((option) => `--${option}`)];
    cases.push(`    ${name}) choices=(${words.join(' ')}) ;;`);
  }
  const all = NAMES.join(' ');
  if (shell === 'zsh')
    return `#compdef vps-slack
_vps_slack() {
  local -a choices
  case $words[2] in
${cases.join('\n')}
  esac
  (( CURRENT == 2 )) && choices=(${all})
  compadd -a choices
}
compdef _vps_slack vps-slack`;
  return `_vps_slack() {
  local choices=()
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac
  [ "$COMP_CWORD" = 1 ] && choices=(${all})
  COMPREPLY=($(compgen -W "\${choices[*]}" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _vps_slack vps-slack`;
}

const [name = '', ...args] = process.argv.slice(2);
const known = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
if (known) runProgram(await known.load(), args);
else runProgram(overview, process.argv.slice(2));
