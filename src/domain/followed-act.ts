import type { Card } from './decision.ts';
import type { ChannelId, ServerId, UserId, WorkspaceId } from './ids.ts';
import { isDeleted, POWER_ACTIONS, type PowerAction, type Server } from './server.ts';
import { isWhereLeads } from './server-state.ts';
import { MINUTE_MS } from './time.ts';

/** What is followed until the server has settled. */
export const FOLLOWED_ACTIONS = [...POWER_ACTIONS, 'create', 'renew', 'delete'] as const;
export type FollowedAction = (typeof FOLLOWED_ACTIONS)[number];

/** Earlier actions whose outcome can no longer be observed after this one. A reboot doesn't hide the outcome of a renewal. */
export function supersededBy(action: FollowedAction): readonly FollowedAction[] {
  if (isPower(action)) return POWER_ACTIONS;
  return action === 'delete' ? [...POWER_ACTIONS, 'create', 'renew'] : [];
}

/** An action is followed for this long, and then called unfinished. */
export const FOLLOW_MS = 10 * MINUTE_MS;

/** A server's state after an action. `there`: where the action leads. `unknown`: its account can no longer be read. */
export const FOLLOWED_STANDINGS = ['waiting', 'there', 'gone', 'superseded', 'unknown'] as const;
export type FollowedStanding = (typeof FOLLOWED_STANDINGS)[number];

/** One server of an action, as far as it was seen since. */
export interface FollowedServer {
  readonly serverId: ServerId;
  readonly label: string;
  readonly standing: FollowedStanding;
  /** As the hosting API reported it last. */
  readonly state?: string;
  readonly ipv4?: string;
  /** Of a renewal: the date that the list has to show. Epoch milliseconds. */
  readonly paidUntil?: number;
  /** Whether the API has reported a state that is not where the act leads: only then has something happened. */
  readonly hasChanged: boolean;
  /** How long after the act it was seen where the act leads. */
  readonly settledMs?: number;
  /** Who has done what to it since. */
  readonly superseded?: { readonly by: UserId; readonly action: string };
}

/** What one user has done to one or several servers, and the message that reports the outcome. */
export interface FollowedAct {
  /** The message's: one act on several servers has one. For a purchase, its confirmation's. */
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly action: FollowedAction;
  readonly actorId: UserId;
  readonly channelId?: ChannelId;
  /** Where the actor acted, if in a thread. */
  readonly thread?: { readonly ts: string; readonly isOpen: boolean };
  /** Which API key the workspace had: another one may open another account. */
  readonly keyGeneration: number;
  /** Of a delete that took a second person: who approved it. Looked up when the message is sent, not stored with the action. */
  readonly approvedBy?: UserId;
  /** Absent if no channel has a message: then only the actor gets one. */
  readonly message?: Card;
  /** Epoch milliseconds. */
  readonly since: number;
  /** For how long it was followed. */
  readonly passedMs: number;
  /** False if the duration is unknown, since no process was running. */
  readonly isMeasured: boolean;
  /** What was sent last (`describeStanding`). */
  readonly told: string;
  readonly servers: readonly FollowedServer[];
}

/** What a list shows of a server: undefined where it has none of that ID, which proves something only if it is complete. */
export interface Sight {
  readonly found: Server | undefined;
  readonly isComplete: boolean;
}

/** A reboot that was not observed counts as done if the server is still running after this long. */
const UNCHANGED_MS = 10_000;

/** The server as a look at it shows it, this long after the act. */
export function lookAt(
  server: FollowedServer,
  action: FollowedAction,
  { found, isComplete }: Sight,
  passedMs: number,
): FollowedServer {
  if (server.standing !== 'waiting') return server;
  if (!found || isDeleted(found))
    return withoutServer(server, action, found !== undefined, isComplete, passedMs);
  const hasChanged = server.hasChanged || (isPower(action) && !isWhereLeads(action, found));
  const ipv4 = found.ipv4 ?? server.ipv4;
  const seen = { ...server, state: found.state, hasChanged, ipv4 };
  if (!isThere(seen, action, found, passedMs)) return seen;
  const paidUntil = found.paidUntil ?? seen.paidUntil;
  return { ...seen, paidUntil, standing: 'there', settledMs: passedMs };
}

function withoutServer(
  server: FollowedServer,
  action: FollowedAction,
  isListed: boolean,
  isComplete: boolean,
  passedMs: number,
): FollowedServer {
  if (!isListed && !isComplete) return server;
  if (action === 'delete') return { ...server, standing: 'there', settledMs: passedMs };
  // A new server may take a moment to be listed.
  return action === 'create' && !isListed ? server : { ...server, standing: 'gone' };
}

function isThere(seen: FollowedServer, action: FollowedAction, found: Server, passedMs: number): boolean {
  switch (action) {
    case 'create':
      return isWhereLeads('start', found) && found.ipv4 !== undefined;
    case 'renew':
      return found.paidUntil !== undefined && found.paidUntil >= (seen.paidUntil ?? found.paidUntil);
    case 'delete':
      return false;
    case 'reboot':
      return isWhereLeads(action, found) && (seen.hasChanged || passedMs >= UNCHANGED_MS);
    default:
      return isWhereLeads(action, found);
  }
}

export function isPower(action: FollowedAction): action is PowerAction {
  return POWER_ACTIONS.some((each) => each === action);
}

/** Whether nothing more will be looked for. */
export function isOver({ servers, passedMs }: Pick<FollowedAct, 'servers' | 'passedMs'>): boolean {
  return passedMs >= FOLLOW_MS || servers.every(({ standing }) => standing !== 'waiting');
}

/** A short text that changes when there is something else to tell. */
export function describeStanding(act: Pick<FollowedAct, 'servers' | 'passedMs'>): string {
  const isLate = act.passedMs >= FOLLOW_MS;
  const isAlone = act.servers.length === 1;
  const parts = act.servers.map(({ serverId, standing, state = '', superseded }) => {
    const shownState = isAlone && standing === 'waiting' && !isLate ? '' : state;
    return [serverId, standing, shownState, superseded?.by, superseded?.action].filter(Boolean).join(' ');
  });
  return [isLate ? 'late' : 'on time', ...parts].join('; ');
}

/** Whether the actor, who was told what the hosting API answered, learns something from how it ended. */
export function isNewsToActor({ action, servers }: Pick<FollowedAct, 'action' | 'servers'>): boolean {
  if (isPower(action) || action === 'create') return true;
  return servers.some(({ standing }) => standing !== 'there');
}
