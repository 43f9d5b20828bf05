import { parseArgs } from 'node:util';
import {
  connectKey,
  disconnectKey,
  EVERY_WORKSPACE,
  KEY_FAILURES,
  listConnectedWorkspaces,
  listInstalledWorkspaces,
  readKey,
  WRONG_KEYS,
} from '../account/keys.ts';
import { parseKeyConfig } from '../config.ts';
import { HostingError } from '../core/errors.ts';
import type { WorkspaceId } from '../core/ids.ts';
import {
  askSecretly,
  chooseOnly,
  type Program,
  type ProgramApp,
  parseOrExplain,
  parseWorkspaceId,
  print,
  UsageError,
  withApp,
} from './program.ts';

const USAGE = `Usage:
  vps-slack key set       tests an API key and stores it: asks for it, or reads it from standard input
  vps-slack key remove    removes the workspace's API key; servers keep running
  vps-slack key list      lists the workspaces that have an API key
  [--workspace T…]        needed if the app is installed in several workspaces   [--json]  for other programs`;

const OPTIONS = { workspace: { type: 'string' }, json: { type: 'boolean', default: false } } as const;

/** Prints an outcome, for another program with `--json`. */
type Report = (words: string, json: unknown) => void;

/** Manages the hosting API keys without Slack, for apps that have no public address. @throws UsageError */
async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseOrExplain(() =>
    parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true }),
  );
  const [command, ...rest] = positionals;
  if (command === undefined) throw new UsageError(`Choose ${CHOICE}.`);
  if (rest.length > 0) throw new UsageError(`Unexpected argument: ${rest.join(' ')}`);
  const work = COMMANDS[command];
  if (!Object.hasOwn(COMMANDS, command) || !work)
    throw new UsageError(`There's no command "${command}". Choose ${CHOICE}.`);
  const named = values.workspace === undefined ? undefined : parseWorkspaceId(values.workspace);
  const report: Report = (words, json) => print(values.json ? JSON.stringify(json) : words);
  await withApp(parseKeyConfig(process.env), (app) => work(app, report, named));
}

/** Finds the one workspace of the app. @throws ProgramEnd without one, UsageError for several */
async function findOnlyWorkspace(app: ProgramApp): Promise<WorkspaceId> {
  const installed = await app.execute(listInstalledWorkspaces, {}, EVERY_WORKSPACE);
  return chooseOnly(
    installed,
    "The app hasn't connected to Slack yet. Start it once, or add --workspace T….",
  );
}

async function list(app: ProgramApp, report: Report): Promise<void> {
  const workspaceIds = await app.execute(listConnectedWorkspaces, {}, EVERY_WORKSPACE);
  report(workspaceIds.join('\n') || 'No workspace has an API key.', workspaceIds);
}

async function remove(app: ProgramApp, report: Report, named?: WorkspaceId): Promise<void> {
  const workspaceId = named ?? (await findOnlyWorkspace(app));
  const isRemoved = await app.execute(disconnectKey, {}, workspaceId);
  report(
    isRemoved
      ? `Workspace ${workspaceId} is disconnected: its API key was removed. Servers keep running.`
      : `Workspace ${workspaceId} has no API key.`,
    { workspaceId, isRemoved },
  );
}

async function set(app: ProgramApp, report: Report, named?: WorkspaceId): Promise<void> {
  const workspaceId = named ?? (await findOnlyWorkspace(app));
  const pasted = readKey(await readInput());
  if ('wrong' in pasted) throw new Error(WRONG_KEYS[pasted.wrong]);
  await app.execute(connectKey, { key: pasted.key }, workspaceId).catch(explainFailure);
  report(`The key works and is stored encrypted. Workspace ${workspaceId} is connected.`, {
    workspaceId,
    isConnected: true,
  });
}

const COMMANDS: Readonly<Record<string, typeof list | typeof set>> = { set, remove, list };
const CHOICE = 'set, remove or list';

function explainFailure(error: unknown): never {
  if (!(error instanceof HostingError)) throw error;
  throw new Error(`${KEY_FAILURES[error.code]} Nothing was stored.`);
}

async function readInput(): Promise<string> {
  if (process.stdin.isTTY) return askSecretly("Paste the API key (it won't be shown) and press Enter: ");
  let text = '';
  for await (const part of process.stdin.setEncoding('utf8')) text += part;
  return text;
}

export const key: Program = { usage: USAGE, commands: Object.keys(COMMANDS), options: OPTIONS, run };
