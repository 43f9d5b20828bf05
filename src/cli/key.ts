import { connectKey, disconnectKey, keyFailureWords, readKey, WRONG_KEYS } from '../account/keys.ts';
import { parseKeyConfig, parseStoreConfig } from '../config.ts';
import { HostingError } from '../core/errors.ts';
import type { WorkspaceId } from '../core/ids.ts';
import type { KeyUse, Unopened } from '../sealed.ts';
import {
  askSecretly,
  chooseOnly,
  note,
  type Program,
  type ProgramApp,
  parseWorkspaceId,
  plainText,
  print,
  readArguments,
  UsageError,
  withApp,
  withStore,
  wrongCommand,
} from './program.ts';

const USAGE = `Usage:
  vps-slack key set       tests an API key and stores it: asks for it, or reads it from standard input
  vps-slack key remove    removes the workspace's API key; servers keep running
  vps-slack key list      lists the workspaces that have an API key
      [--workspace T…]    needed if the app is installed in several workspaces
  vps-slack key rotate    encrypts everything under the first key of ENCRYPTION_KEYS, while the app runs, and says which keys
                          are still needed; can be interrupted and run again
      [--dry-run]         only says which keys are needed, and changes nothing
  [--json]  for other programs
Exit codes: 0 done, 1 refused, or something can't be decrypted, 2 wrong usage.`;

const OPTIONS = {
  workspace: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

type Report = (words: string, json: unknown) => void;

async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, OPTIONS, { allowPositionals: true });
  const [command, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`Unexpected argument: ${rest.join(' ')}`);
  const report: Report = (words, json) => print(values.json ? JSON.stringify(json) : words);
  if (command === 'rotate') return rotate(values['dry-run'], report);
  const work = Object.hasOwn(COMMANDS, command ?? '') ? COMMANDS[command ?? ''] : undefined;
  if (!work) throw wrongCommand(command, [...Object.keys(COMMANDS), 'rotate']);
  const named = values.workspace === undefined ? undefined : parseWorkspaceId(values.workspace);
  await withApp(parseKeyConfig(process.env), (app) => work(app, report, named));
}

/** Finds the one workspace of the app. @throws ProgramEnd without one, UsageError for several */
async function findOnlyWorkspace({ store }: ProgramApp): Promise<WorkspaceId> {
  const installed = await store.workspaces.list();
  return chooseOnly(
    installed.map(({ id }) => id),
    "The app hasn't connected to Slack yet. Start it once, or add --workspace T….",
  );
}

async function list({ store }: ProgramApp, report: Report): Promise<void> {
  const workspaceIds = await store.apiKeys.listWorkspaces();
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

/** How many texts there are between two lines of progress. */
const STEP = 100;

/** Encrypts everything under the first key. The app may be running. Exit code 1 if something is left under another key. */
async function rotate(isDryRun: boolean, report: Report): Promise<void> {
  await withStore(parseStoreConfig(process.env), async ({ sealed, spill }) => {
    const onResealed = (count: number) => {
      if (count % STEP === 0) note(`${count} encrypted under the first key…`);
    };
    const resealed = isDryRun ? 0 : await sealed.reseal(onResealed);
    // First: an answer that the app stores in the meantime is then counted here, in the database, or in both.
    const { answers, unreadable } = await spill.readAll();
    const { unopened, encrypts } = await sealed.openAll();
    const keys = await sealed.listKeyUse(encrypts);
    const waiting: Waiting = { all: answers.length + unreadable, unreadable };
    const lines = [
      ...(isDryRun ? [] : [`Newly encrypted under the first key: ${resealed}.`]),
      ...keys.map((use, at) => describeUse(use, at === 0, waiting)),
      ...unopened.map(describeUnopened),
      ...(waiting.all > 0 ? [`Answers to paid orders in SPILL_DIR: ${waiting.all}. ${WAITING}`] : []),
    ];
    report(lines.join('\n'), { resealed, keys, unopened, waitingInSpillDir: waiting.all });
    const isLeft = keys.slice(1).some(({ encrypts }) => Object.keys(encrypts).length > 0);
    if (unopened.length > 0 || (isLeft && !isDryRun)) process.exitCode = 1;
  });
}

const WAITING = 'Keep every key until the app has stored them; it does so when it starts.';

/** How many answers are in `SPILL_DIR`, each encrypted with any of the keys. */
interface Waiting {
  readonly all: number;
  /** Their key is missing. */
  readonly unreadable: number;
}

function describeUse(use: KeyUse, isFirst: boolean, waiting: Waiting): string {
  const { keyId, isMissing, encrypts, signs, names } = use;
  const counts = Object.entries(encrypts).map(([what, count]) => `${what}: ${count}`);
  const uses = [
    counts.length > 0 ? `encrypts ${counts.join(', ')}` : 'encrypts nothing',
    ...(signs > 0 ? [`signs ${signs} ${signs === 1 ? 'entry' : 'entries'} of the audit log`] : []),
    ...(names > 0
      ? [
          `identifies the hosting account of ${names} ${names === 1 ? 'open order or request' : 'open orders and requests'}`,
        ]
      : []),
  ];
  return `${keyId}${isMissing ? ' (missing)' : ''}: ${uses.join('; ')}. ${isFirst ? 'It is the first key.' : adviseOn(use, waiting)}`;
}

function adviseOn({ isMissing, encrypts, signs, names }: KeyUse, waiting: Waiting): string {
  const encrypted = Object.keys(encrypts).length;
  if (isMissing) {
    const isNeeded = encrypted + signs + names + waiting.unreadable > 0;
    return isNeeded ? 'Put it back into ENCRYPTION_KEYS, after the others.' : 'It isn’t needed.';
  }
  if (encrypted > 0) return 'Don’t remove it: run vps-slack key rotate.';
  if (names > 0) return 'Keep it until these orders and requests have ended.';
  if (signs > 0)
    return 'Keep it last in ENCRYPTION_KEYS for as long as you keep these entries: they can’t be verified without it.';
  return waiting.all > 0
    ? 'Keep it until the app has stored the answers in SPILL_DIR.'
    : 'You can remove it.';
}

function describeUnopened({ what, id, why }: Unopened): string {
  const reason =
    why === 'altered' ? 'was altered, or belongs to another row' : 'its key is missing from ENCRYPTION_KEYS';
  return `Can’t be decrypted, and was left as it is: ${what}, row ${plainText(id)}: ${reason}.`;
}

function explainFailure(error: unknown): never {
  if (!(error instanceof HostingError)) throw error;
  throw new Error(`${keyFailureWords(error.code)} The key wasn’t stored.`);
}

async function readInput(): Promise<string> {
  if (process.stdin.isTTY) return askSecretly("Paste the API key (it won't be shown) and press Enter: ");
  let text = '';
  for await (const part of process.stdin.setEncoding('utf8')) text += part;
  return text;
}

export const key: Program = { usage: USAGE, run };
