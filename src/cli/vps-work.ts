import type { OnWait } from '../app/hosting-api.ts';
import { changePower, type PowerChange } from '../app/servers/change-power.ts';
import { listServers } from '../app/servers/list-servers.ts';
import { showServer } from '../app/servers/show-server.ts';
import { watchServer } from '../app/servers/watch-server.ts';
import { isRefusal } from '../domain/errors.ts';
import type { WorkspaceId } from '../domain/ids.ts';
import type { PowerAction, Server } from '../domain/server.ts';
import { isFullName } from '../domain/server-ref.ts';
import { isWhereLeads } from '../domain/server-state.ts';
import type { ProgramApp } from './open-app.ts';
import { confirmOnTerminal, plainText } from './plain-text.ts';
import { ProgramEnd, print } from './program.ts';
import { describeCard, describeServers, jsonOf, VERBS } from './vps-words.ts';

/** How `npm run vps` ends (docs/servers.md). */
const REFUSED = 1;
const UNCONFIRMED = 3;

export interface VpsOptions {
  readonly workspaceId: WorkspaceId;
  readonly isJson: boolean;
  /** The user needs no question about a server that was named in full. */
  readonly isYes: boolean;
  /** Nor about one that was rebooted a moment ago. */
  readonly isAgain: boolean;
}

/** For what the user should read while the output may go to another program. */
function note(words: string): void {
  process.stderr.write(`${words}\n`);
}

const onWait: OnWait = ({ position, estimateMs } = {}) => {
  const place = position === undefined ? '' : ` Number ${position} in the queue.`;
  const wait =
    estimateMs === undefined ? '' : ` Estimated wait: about ${Math.ceil(estimateMs / 5000) * 5} s.`;
  note(`The hosting API's rate limit is used up.${place}${wait} Waiting…`);
};

export async function list(
  app: ProgramApp,
  filter: string,
  { workspaceId, isJson }: VpsOptions,
): Promise<void> {
  const { servers, extent } = await app.execute(listServers, { filter, onWait }, workspaceId);
  if (isJson) print(JSON.stringify(servers.map(jsonOf)));
  else if (servers.length === 0 && extent !== 'whole')
    print('No listed server matches, but some servers may be missing.');
  else print(describeServers(servers));
}

export async function show(
  app: ProgramApp,
  typed: string,
  { workspaceId, isJson }: VpsOptions,
): Promise<void> {
  const card = await app.execute(showServer, { ref: { typed }, onWait, isFresh: true }, workspaceId);
  const protectedBy = card.protection?.protectedBy ?? null;
  print(isJson ? JSON.stringify({ ...jsonOf(card.server), protectedBy }) : describeCard(card));
}

/** Starts, stops or reboots one server, and follows it. @throws ProgramEnd unless the API has reported where it leads */
export async function changeOne(
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
    report({ server, action, outcome: 'unconfirmed', state: change.state }, options, '');
    throw new ProgramEnd(
      `We're not sure whether ${label} was ${past}: the hosting API didn't confirm it. Check before you try again: npm run -s vps -- show ${server.id}`,
      UNCONFIRMED,
    );
  }
  await follow(app, action, change, options);
}

/** @throws ProgramEnd when the user did not confirm */
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

/** @throws ProgramEnd unless the answer is yes */
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
    const { server, agoMs, rebootedBy } = error.details;
    const seconds = Math.max(1, Math.round(agoMs / 1000));
    const said = `${plainText(server.label)} was rebooted ${seconds} s ago by ${plainText(rebootedBy)}.`;
    if (isYes) throw new ProgramEnd(`${said} Nothing was changed. Add --again to reboot it again.`, REFUSED);
    await ask(`${said} Reboot again?`);
    return send(true);
  }
}

async function follow(
  app: ProgramApp,
  action: PowerAction,
  { server, state, words }: PowerChange,
  options: VpsOptions,
): Promise<void> {
  const label = plainText(server.label);
  const { past, present } = VERBS[action];
  if (state !== undefined && isWhereLeads(action, { state }))
    return report(
      { server, action, outcome: 'done', state },
      options,
      `${label} was ${past}: ${plainText(state)}`,
    );
  note(`The hosting API accepted it: ${present} ${label}…${words ? ` It says: “${plainText(words)}”` : ''}`);
  const { id } = server;
  const seen = await app.execute(watchServer, { id, action }, options.workspaceId);
  const now = seen.server?.state;
  const seconds = Math.max(1, Math.round(seen.ms / 1000));
  if (seen.isThere)
    return report(
      { server, action, outcome: 'done', state: now },
      options,
      `${label} was ${past}: ${plainText(now ?? '')} (the API reports it, ${seconds} s)`,
    );
  report({ server, action, outcome: 'accepted', state: now }, options, '');
  const last =
    now === undefined ? `hasn't reported ${label} since` : `still reports ${label} as ${plainText(now)}`;
  throw new ProgramEnd(`After ${seconds} s, the API ${last}.`, UNCONFIRMED);
}

interface Report {
  readonly server: Server;
  readonly action: PowerAction;
  readonly outcome: 'done' | 'accepted' | 'unconfirmed';
  readonly state: string | undefined;
}

function report(
  { server: { id, label }, action, outcome, state }: Report,
  { isJson }: VpsOptions,
  words: string,
): void {
  if (isJson) print(JSON.stringify({ id, label, action, outcome, state: state ?? null }));
  else if (words !== '') print(words);
}
