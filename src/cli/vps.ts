import { parseKeyConfig } from '../config.ts';
import { HostingError, isExpected, isRefusal } from '../core/errors.ts';
import { isFullName } from '../core/find-server.ts';
import type { WorkspaceId } from '../core/ids.ts';
import { commandLineOf } from '../core/roles.ts';
import { POWER_ACTIONS, type PowerAction, type Server } from '../core/server.ts';
import { type ServerCard, showServer } from '../servers/card.ts';
import { changePower, followedAfter, type PowerChange, watchServer } from '../servers/change-power.ts';
import { listServers } from '../servers/list.ts';
import { decodeText, utcDate } from '../slack/kit/text.ts';
import { VERBS, wordsOfError } from '../words.ts';
import {
  chooseOnly,
  confirmOnTerminal,
  describeTable,
  findSystemUser,
  note,
  type Program,
  type ProgramApp,
  ProgramEnd,
  parseWorkspaceId,
  plainText,
  print,
  readArguments,
  UsageError,
  withApp,
  wrongCommand,
} from './program.ts';

const USAGE = `Usage, when Slack is down:
  vps-slack vps list [filter]     lists the servers
  vps-slack vps show <server>     shows one, by label, ID or IPv4 address
  vps-slack vps start|stop|reboot <server>
      asks first, then acts and follows the server for up to two minutes
      [--yes]    skip the question (full label required)
      [--again]  allow a second reboot within two minutes
  [--workspace T…]  needed if several workspaces have an API key   [--json]  for other programs
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 unconfirmed.`;

type Work = (app: ProgramApp, options: VpsOptions) => Promise<void>;

/** Lists, shows, starts, stops and reboots servers without Slack. Never sends a paid request. The app may be running. */
async function run(args: readonly string[]): Promise<void> {
  const { work, workspaceId, ...options } = parseCommand(args);
  const carryOut = async (app: ProgramApp) => {
    try {
      await work(app, { ...options, workspaceId: workspaceId ?? (await findOnlyWorkspace(app)) });
    } catch (error) {
      const words = explain(error);
      throw words === undefined ? error : new ProgramEnd(words, 1);
    }
  };
  await withApp(parseKeyConfig(process.env), carryOut, commandLineOf(findSystemUser(process.env)));
}

const OPTIONS = {
  workspace: { type: 'string' },
  json: { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
  again: { type: 'boolean', default: false },
} as const;

/** @throws UsageError */
function parseCommand(args: readonly string[]) {
  const { values, positionals } = readArguments(args, OPTIONS, { allowPositionals: true });
  const { workspace, json: isJson, yes: isYes, again: isAgain } = values;
  const work = parseWork(positionals);
  const [command = ''] = positionals;
  // Refused before anything is opened: in a script, no one would answer.
  if (POWER_ACTIONS.some((each) => each === command) && !isYes && !process.stdin.isTTY)
    throw new UsageError(
      `There's no terminal to ask on. Add --yes if you want to ${command} without being asked.`,
    );
  return {
    work,
    workspaceId: workspace === undefined ? undefined : parseWorkspaceId(workspace),
    isJson,
    isYes,
    isAgain,
  };
}

/** @throws UsageError */
function parseWork([command, name = '', ...rest]: readonly string[]): Work {
  if (rest.length > 0)
    throw new UsageError(`Unexpected argument: ${rest.join(' ')}. Put quotes around a label with spaces.`);
  if (command === 'list') return (app, options) => list(app, name, options);
  const action = POWER_ACTIONS.find((each) => each === command);
  if (command !== 'show' && action === undefined)
    throw wrongCommand(command, ['list', 'show', ...POWER_ACTIONS]);
  if (name.trim() === '')
    throw new UsageError(`Which server? Put its label, ID or IPv4 address after "${command}".`);
  return (app, options) => (action ? changeOne(app, action, name, options) : show(app, name, options));
}

/** Finds the one workspace with an API key. @throws ProgramEnd without one, UsageError for several */
async function findOnlyWorkspace({ store }: ProgramApp): Promise<WorkspaceId> {
  const connected = await store.apiKeys.listWorkspaces();
  return chooseOnly(connected, 'No workspace has an API key. Set one with: vps-slack key set');
}

/** Exit codes of `vps-slack vps` (docs/servers.md). */
const REFUSED = 1;
const UNCONFIRMED = 3;

interface VpsOptions {
  readonly workspaceId: WorkspaceId;
  readonly isJson: boolean;
  readonly isYes: boolean;
  readonly isAgain: boolean;
}

const onWait = () => note("We've hit the hosting API's rate limit. Waiting for up to 90 s…");

async function list(app: ProgramApp, filter: string, { workspaceId, isJson }: VpsOptions): Promise<void> {
  const { servers, extent } = await app.execute(listServers, { filter, onWait }, workspaceId);
  if (isJson) print(JSON.stringify(servers.map(jsonOf)));
  else if (servers.length === 0 && extent !== 'whole')
    print('No listed server matches, but some servers may be missing.');
  else print(describeServers(servers));
}

async function show(app: ProgramApp, typed: string, { workspaceId, isJson }: VpsOptions): Promise<void> {
  const card = await app.execute(showServer, { ref: { typed }, onWait, isFresh: true }, workspaceId);
  const protectedBy = card.protection?.protectedBy ?? null;
  print(isJson ? JSON.stringify({ ...jsonOf(card.server), protectedBy }) : describeCard(card));
}

/** Starts, stops or reboots one server, and watches it. @throws ProgramEnd unless the API reports the target state */
async function changeOne(
  app: ProgramApp,
  action: PowerAction,
  typed: string,
  options: VpsOptions,
): Promise<void> {
  const { workspaceId } = options;
  const { server } = await app.execute(showServer, { ref: { typed }, onWait, isFresh: true }, workspaceId);
  await confirm(action, typed, server, options);
  const change = await sendOrAskAgain(app, action, server, options);
  const label = plainText(server.label);
  const { past } = VERBS[action];
  if (change.isUnconfirmed) {
    if (options.isJson) printJson(server, action, 'unconfirmed', change.state);
    throw new ProgramEnd(
      `We're not sure whether ${label} was ${past}: the hosting API didn't confirm it. Check before you try again: vps-slack vps show ${server.id}`,
      UNCONFIRMED,
    );
  }
  await follow(app, action, change, options);
}

/** Asks before an action, unless `--yes` and the full name make it certain. @throws ProgramEnd if it isn't confirmed */
async function confirm(
  action: PowerAction,
  typed: string,
  server: Server,
  { isYes }: VpsOptions,
): Promise<void> {
  const label = plainText(server.label);
  if (isYes) {
    if (isFullName(typed, server)) return;
    const words = `"${plainText(typed)}" is only the beginning of ${label}. Nothing was changed. With --yes, type the whole label or the ID.`;
    throw new ProgramEnd(words, REFUSED);
  }
  await ask(`${VERBS[action].title} ${label} (${plainText(server.state)})?`);
}

/** Asks a question. @throws ProgramEnd unless the answer is yes */
async function ask(question: string): Promise<void> {
  if (!(await confirmOnTerminal(question))) throw new ProgramEnd('Nothing was changed.', REFUSED);
}

async function sendOrAskAgain(
  app: ProgramApp,
  action: PowerAction,
  { id }: Server,
  { workspaceId, isYes, isAgain }: VpsOptions,
): Promise<PowerChange> {
  const send = (isSure: boolean) =>
    app.execute(changePower[action], { ref: { id }, onWait, isSure }, workspaceId);
  try {
    return await send(isAgain);
  } catch (error) {
    if (!isRefusal(error, 'rebooted_recently')) throw error;
    const question = explain(error) ?? '';
    if (isYes)
      throw new ProgramEnd(`${question} Nothing was changed. To reboot it again, add --again.`, REFUSED);
    await ask(question);
    return send(true);
  }
}

async function follow(
  app: ProgramApp,
  action: PowerAction,
  change: PowerChange,
  { workspaceId, isJson }: VpsOptions,
): Promise<void> {
  const { server, state, words: said } = change;
  const label = plainText(server.label);
  const { past, present } = VERBS[action];
  if (followedAfter(action, change).standing === 'there') {
    if (isJson) printJson(server, action, 'done', state);
    else print(`${label} was ${past}: ${plainText(state ?? '')}`);
    return;
  }
  note(
    `The hosting API accepted the request: ${present} ${label}…${said ? ` It says: “${plainText(said)}”` : ''}`,
  );
  const { server: seen, ms } = await app.execute(watchServer, { action, change }, workspaceId);
  const { standing, hasChanged, state: now } = seen;
  const seconds = Math.max(1, Math.round(ms / 1000));
  const isDone = standing === 'there';
  if (isJson) printJson(server, action, isDone && hasChanged ? 'done' : 'accepted', now);
  if (isDone) {
    const how = hasChanged ? `reported by the API after ${seconds} s` : `change not observed, ${seconds} s`;
    if (!isJson) print(`${label} was ${past}: ${plainText(now ?? '')} (${how})`);
    return;
  }
  // What was reported last: the API may not have answered since.
  const last =
    now === undefined
      ? `the API still hasn't reported ${label}'s state`
      : `the API last reported ${label} as ${plainText(now)}`;
  const words = standing === 'gone' ? `${label} is no longer in the hosting account` : last;
  throw new ProgramEnd(
    `After ${seconds} s, ${words}. Check again: vps-slack vps show ${server.id}`,
    UNCONFIRMED,
  );
}

/** For other programs: what is known of the outcome. */
function printJson(
  { id, label }: Server,
  action: PowerAction,
  outcome: 'done' | 'accepted' | 'unconfirmed',
  state: string | undefined,
): void {
  print(JSON.stringify({ id, label, action, outcome, state: state ?? null }));
}

function jsonOf({ id, label, state, ipv4, paidUntil }: Server) {
  return {
    id,
    label,
    state,
    ipv4: ipv4 ?? null,
    paidUntil: paidUntil === undefined ? null : new Date(paidUntil).toISOString(),
  };
}

function describeServers(servers: readonly Server[]): string {
  if (servers.length === 0) return 'No servers match.';
  return describeTable([
    ['ID', 'LABEL', 'STATE', 'IPV4', 'PAID UNTIL'],
    ...servers.map((server) => [
      String(server.id),
      plainText(server.label),
      plainText(server.state),
      plainText(server.ipv4 ?? ''),
      dayOf(server),
    ]),
  ]);
}

function describeCard({ server, protection }: ServerCard): string {
  return describeTable([
    ['Label', plainText(server.label)],
    ['ID', String(server.id)],
    ['State', plainText(server.state)],
    ['IPv4', plainText(server.ipv4 ?? '')],
    ['Paid until', dayOf(server)],
    ['Protected', protection ? `yes, by ${protection.protectedBy}` : 'no'],
  ]);
}

function dayOf({ paidUntil }: Server): string {
  return paidUntil === undefined ? '-' : utcDate(paidUntil);
}

/** Puts an expected error into the words that Slack would show, as plain text. */
function explain(error: unknown): string | undefined {
  if (isRefusal(error, 'no_api_key')) return 'This workspace has no API key. Set one with: vps-slack key set';
  if (isRefusal(error, 'ambiguous_server')) {
    const { typed, servers } = error.details;
    return `${servers.length} servers match "${plainText(typed)}". Nothing was changed. Use an ID:\n${describeServers(servers)}`;
  }
  if (error instanceof HostingError && error.code === 'unauthorized')
    return 'The hosting API rejected the API key of this workspace. Set a working one with: vps-slack key set';
  if (!isExpected(error)) return undefined;
  const words = wordsOfError(error, '')
    .replaceAll('`', '')
    .replace(/<@(\w+)>/g, '$1');
  return plainText(decodeText(words));
}

export const vps: Program = { usage: USAGE, run };
