import { userInfo } from 'node:os';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ConfigError, type KeyConfig, type StoreConfig } from '../config.ts';
import type { AppContext, Store } from '../context.ts';
import { createEntry, type UseCase } from '../core/entry.ts';
import { isExpected } from '../core/errors.ts';
import { PART_OF_LIST } from '../core/find-server.ts';
import type { UserId, WorkspaceId } from '../core/ids.ts';
import { THE_COMMAND_LINE } from '../core/roles.ts';
import { openStore } from '../db/open-store.ts';
import { createVault, type Vault } from '../db/vault.ts';
import { silentLog } from '../log.ts';
import { realSystem } from '../system.ts';

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export class ProgramEnd extends Error {
  override readonly name = 'ProgramEnd';
  readonly exitCode: number;

  constructor(words: string, exitCode: number) {
    super(words);
    this.exitCode = exitCode;
  }
}

const WRONG_USAGE = 2;

export interface Program {
  readonly usage: string;
  run(args: readonly string[]): Promise<void>;
}

/** Prints an error as a sentence to standard error, with an exit code and no stack trace. */
export function runProgram({ run, usage }: Program, args: readonly string[]): void {
  // A reader such as `head` may close the pipe early.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const isHelp = args.some((word) => word === '--help' || word === '-h');
  const done = isHelp ? Promise.resolve(print(usage)) : run(args);
  done.catch((error: unknown) => {
    const isUsage = error instanceof UsageError;
    process.stderr.write(`${describeFault(error)}\n${isUsage ? `\n${usage}\n` : ''}`);
    process.exitCode = error instanceof ProgramEnd ? error.exitCode : isUsage ? WRONG_USAGE : 1;
  });
}

export function print(words: string): void {
  process.stdout.write(`${words}\n`);
}

/** Writes to standard error what must not mix with the output, which may go to another program: progress, for example. */
export function note(words: string): void {
  process.stderr.write(`${words}\n`);
}

/** Parses arguments. @throws UsageError for an unknown option, a missing value or an unexpected word */
export function readArguments<
  const Options extends NonNullable<ParseArgsConfig['options']>,
  Words extends boolean = false,
>(args: readonly string[], options: Options, words?: { readonly allowPositionals: Words }) {
  try {
    return parseArgs({ args: [...args], options, ...words });
  } catch (error) {
    const [problem] = error instanceof Error ? error.message.split(/\.(?:\s|$)/) : [];
    throw new UsageError(`${problem ?? 'The arguments can’t be read'}.`);
  }
}

export function wrongCommand(typed: string | undefined, commands: readonly string[]): UsageError {
  const choose = `Choose ${commands.slice(0, -1).join(', ')} or ${commands.at(-1)}.`;
  return new UsageError(typed === undefined ? choose : `There's no command "${typed}". ${choose}`);
}

export function parseWorkspaceId(text: string): WorkspaceId {
  if (/^[TE][A-Z0-9]+$/.test(text)) return text;
  throw new UsageError(
    `"${text}" is not a workspace ID. Workspace IDs look like T012AB3CD; Slack's web app has yours in its address.`,
  );
}

/** Returns the only workspace, so that it needn't be named. @throws ProgramEnd with `none` without one, UsageError for several */
export function chooseOnly([only, ...others]: readonly WorkspaceId[], none: string): WorkspaceId {
  if (only === undefined) throw new ProgramEnd(none, 1);
  if (others.length === 0) return only;
  throw new UsageError(`Which workspace? Add --workspace and one of ${[only, ...others].join(', ')}.`);
}

function describeFault(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (isExpected(error)) return `The command failed: ${error.code.replaceAll('_', ' ')}.`;
  return error instanceof Error ? error.message : 'The command failed.';
}

/** The app may be running at the same time. @throws DatabaseUnusable with a sentence for the operator */
export async function withStore(
  { DATABASE_URL: databaseUrl, SPILL_DIR: spillDir, ENCRYPTION_KEYS }: StoreConfig,
  work: (store: Store, vault: Vault) => Promise<void>,
): Promise<void> {
  const vault = createVault(ENCRYPTION_KEYS);
  const store = await openStore({ databaseUrl, spillDir, vault, system: realSystem, lock: false });
  await work(store, vault).finally(() => store.close());
}

export interface ProgramApp {
  readonly store: Store;
  /** Runs a use case in a workspace. @throws as `Entry.execute` does */
  execute<Input, Output>(
    useCase: UseCase<Input, Output>,
    input: Input,
    workspaceId: WorkspaceId,
  ): Promise<Output>;
}

/** Without Slack, and without background work: no confirmed order is continued. @throws as `withStore` does */
export async function withApp(
  config: KeyConfig,
  work: (app: ProgramApp) => Promise<void>,
  userId = THE_COMMAND_LINE,
): Promise<void> {
  await withStore(config, async (store, { namesOf }) => {
    const { HOSTING_BASE_URL: baseUrl, HOSTING_TIMEOUT_MS: timeoutMs } = config;
    // Loaded here, so that other programs start at once.
    const { createHosting } = await import('../hosting/client.ts');
    const hosting = createHosting({ baseUrl, timeoutMs, system: realSystem, calls: store.apiCalls, namesOf });
    const parts = { ...store, ...WITHOUT_SLACK, hostingOf: hosting.of };
    await work(createProgramApp(parts as AppContext, userId)).finally(() => hosting.close());
  });
}

function createProgramApp(app: AppContext, userId: UserId): ProgramApp {
  const entry = createEntry(app);
  let isSaid = false;
  const onPartOfList = () => {
    if (!isSaid) note(PART_OF_LIST);
    isSaid = true;
  };
  return {
    store: app,
    execute: (useCase, input, workspaceId) =>
      entry.execute(useCase, input, { actor: { workspaceId, userId }, surface: 'cli', onPartOfList }),
  };
}

/** Stand-ins for Slack and `OWNERS`, which the entry doesn't ask about the command line. No program's use case needs more. */
const WITHOUT_SLACK: Partial<AppContext> = {
  installations: { isServed: async () => undefined },
  system: realSystem,
  log: silentLog,
  users: { find: async () => undefined, exists: async () => 'unknown' },
  groups: { list: async () => undefined, listMembers: async () => undefined },
  ownersOf: () => [],
  accountNotifier: { notifyConnected: async () => undefined, notifyKeyChange: async () => undefined },
};

/** Makes outside text one line for a terminal, without control characters and changes of direction; '-' if empty. */
export function plainText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim() || '-';
}

/** Aligns rows of equal length as columns. The first row decides how many. */
export function describeTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => [...(row[column] ?? '')].length)),
  );
  const pad = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length);
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}

/** Asks a question on the terminal. Anything but yes is a no. */
export async function confirmOnTerminal(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

/** @throws ProgramEnd if there is no answer: Ctrl-C or Ctrl-D */
export async function askSecretly(question: string): Promise<string> {
  const { createInterface } = await import('node:readline');
  // Node.js then reads each key itself, and shows nothing without an output.
  const terminal = createInterface({ input: process.stdin, terminal: true });
  process.stderr.write(question);
  const answer = await new Promise<string | undefined>((resolve) => {
    terminal.once('line', resolve).once('close', () => resolve(undefined));
  });
  terminal.close();
  process.stderr.write('\n');
  if (answer === undefined) throw new ProgramEnd('Nothing was changed.', 1);
  return answer;
}

/** Finds who runs this program, for the audit: "ann", "ann as root" with sudo, "user 1000" without a name. */
export function findSystemUser(environment: Readonly<Record<string, string | undefined>>): string {
  const name = nameOfUser();
  const { SUDO_USER: by } = environment;
  // Only root's variable counts: other users could set it themselves.
  return process.getuid?.() === 0 && by !== undefined && by !== name ? `${by} as ${name}` : name;
}

function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have no name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
