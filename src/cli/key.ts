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
  type ProgramApp,
  parseOrExplain,
  parseWorkspaceId,
  print,
  runProgram,
  UsageError,
  withApp,
} from './program.ts';

const USAGE = `Usage:
  npm run key -- set       tests an API key and stores it: asks for it, or reads it from standard input
  npm run key -- remove    removes the workspace's API key; servers keep running
  npm run key -- list      lists the workspaces that have an API key
  [--workspace T…]         needed if the app is installed in several workspaces`;

/** Manages the hosting API keys without Slack, for apps that have no public address. */
async function main(): Promise<void> {
  const work = parseCommand();
  await withApp(parseKeyConfig(process.env), work);
}

/** @throws UsageError */
function parseCommand(): (app: ProgramApp) => Promise<void> {
  const { values, positionals } = parseOrExplain(() =>
    parseArgs({ options: { workspace: { type: 'string' } }, allowPositionals: true }),
  );
  const [command, ...rest] = positionals;
  if (command === undefined) throw new UsageError('Choose set, remove or list.');
  if (rest.length > 0) throw new UsageError(`Unexpected argument: ${rest.join(' ')}`);
  if (command === 'list') return list;
  if (command !== 'set' && command !== 'remove') {
    throw new UsageError(`There's no command "${command}". Choose set, remove or list.`);
  }
  const named = values.workspace === undefined ? undefined : parseWorkspaceId(values.workspace);
  const work = command === 'set' ? set : remove;
  return async (app) => work(app, named ?? (await findOnlyWorkspace(app)));
}

/** Finds the one workspace of the app. @throws ProgramEnd without one, UsageError for several */
async function findOnlyWorkspace(app: ProgramApp): Promise<WorkspaceId> {
  const installed = await app.execute(listInstalledWorkspaces, {}, EVERY_WORKSPACE);
  return chooseOnly(
    installed,
    "The app hasn't connected to Slack yet. Start it once, or add --workspace T….",
  );
}

async function list(app: ProgramApp): Promise<void> {
  const workspaceIds = await app.execute(listConnectedWorkspaces, {}, EVERY_WORKSPACE);
  print(workspaceIds.join('\n') || 'No workspace has an API key.');
}

async function remove(app: ProgramApp, workspaceId: WorkspaceId): Promise<void> {
  const wasThere = await app.execute(disconnectKey, {}, workspaceId);
  print(
    wasThere
      ? `Workspace ${workspaceId} is disconnected: its API key was removed. Servers keep running.`
      : `Workspace ${workspaceId} has no API key.`,
  );
}

async function set(app: ProgramApp, workspaceId: WorkspaceId): Promise<void> {
  const pasted = readKey(await readInput());
  if ('wrong' in pasted) throw new Error(WRONG_KEYS[pasted.wrong]);
  await app.execute(connectKey, { key: pasted.key }, workspaceId).catch(explainFailure);
  print(`The key works and is stored encrypted. Workspace ${workspaceId} is connected.`);
}

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

runProgram(main, USAGE);
