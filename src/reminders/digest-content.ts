import type { AppContext } from '../context.ts';
import type { StoredEntry } from '../core/audit-entry.ts';
import type { FollowUpContext } from '../core/entry.ts';
import type { AccountNames, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import { isSameLabel } from '../core/labels.ts';
import type { Money } from '../core/money.ts';
import { colorOf, compareServers, isDeleted, type Server } from '../core/server.ts';
import { DEFAULT_DIGEST, type DigestSettings } from '../core/settings.ts';
import { addDays, DAY_MS, daysBetween, localDay, MINUTE_MS } from '../core/time.ts';
import { isOrderOf } from '../purchases/costs.ts';
import { claimOf, labelOf, type Operation } from '../purchases/operation.ts';
import type { ReminderMark } from '../servers/notes.ts';
import type { SeenAccount } from './digest.ts';
import type { DigestRecord, LiveDigest, Snapshot } from './store.ts';

/** Without a channel, there's no digest. */
type ReminderSettings = Omit<DigestSettings, 'channelId'> & Partial<Pick<DigestSettings, 'channelId'>>;

/** Counts the calendar days that are left; 0 on the last one. At 11 p.m., a time after midnight is one day away. */
function countDaysLeft(paidUntil: number, day: string, zone: string): number {
  return daysBetween(day, localDay(paidUntil, zone));
}

/** Whether the paid time ends soon enough for a reminder on that day, or has already ended. */
export function isDue(paidUntil: number, day: string, { zone, daysBefore }: ReminderSettings): boolean {
  return countDaysLeft(paidUntil, day, zone) <= (daysBefore[0] ?? 0);
}

/** Whether the mark keeps this month of the server out of the digest of that day. */
export function isHidden(mark: ReminderMark | undefined, paidUntil: number, day: string): boolean {
  if (mark?.paidUntil !== paidUntil) return false;
  return mark.untilDay === undefined || day < mark.untilDay;
}

/**
 * The first day on which a server that is snoozed on that day is listed again: at the next of the steps that are set, but after a
 * day without it at least. Undefined if no reminder would be left before the paid time ends.
 */
export function findSnoozeEnd(
  paidUntil: number,
  day: string,
  { zone, daysBefore }: ReminderSettings,
): string | undefined {
  const daysLeft = countDaysLeft(paidUntil, day, zone);
  const step = daysBefore.find((each) => each < daysLeft) ?? daysLeft;
  const restDays = Math.max(2, daysLeft - step);
  return daysLeft - restDays >= 1 ? addDays(day, restDays) : undefined;
}

/** A server as a digest names it; by then it may be gone. */
export interface DigestEntry {
  readonly serverId: ServerId;
  readonly label: string;
}

export type DueStanding =
  | { readonly kind: 'due' | 'expired' }
  /** A renewal is in progress, or it isn't known yet whether it was paid. */
  | { readonly kind: 'paying' | 'unconfirmed'; readonly by: UserId }
  | { readonly kind: 'renewed'; readonly by: UserId; readonly paidUntil: number }
  | { readonly kind: 'snoozed'; readonly by: UserId; readonly untilDay: string }
  | { readonly kind: 'left'; readonly by: UserId; readonly hasEnded: boolean };

interface DueServer extends DigestEntry {
  readonly paidUntil: number;
  /** On the day of the digest. */
  readonly daysLeft: number;
  /** The last of the steps that are set has come. */
  readonly isUrgent: boolean;
  /** Until when it can be snoozed; absent if that leaves no time for another reminder. */
  readonly snoozeEnd?: string | undefined;
  /** What was paid for it last with this app. The API reports no price of a server (docs/hosting-api.md 2). */
  readonly price?: Money;
}

export interface ExpiredServer extends DigestEntry {
  readonly paidUntil: number;
  readonly leftBy?: UserId;
  readonly isListed: boolean;
}

/** What has happened in the account since the last digest, and not through this app in this workspace. */
export interface Drift {
  readonly appeared: readonly DigestEntry[];
  readonly vanished: readonly DigestEntry[];
  readonly changed: readonly (DigestEntry & { readonly before: string; readonly now: string })[];
}

export const NO_DRIFT: Drift = { appeared: [], vanished: [], changed: [] };

/** What a digest says on its day; the current state of the servers is looked up each time. */
export interface DigestContent {
  /** The most urgent first. */
  readonly due: readonly DueServer[];
  readonly expired: readonly ExpiredServer[];
  readonly drift: Drift;
  /** Servers that are due and were left out. */
  readonly snoozed: number;
  readonly left: number;
  /** False when the API did not show all servers. */
  readonly isComplete: boolean;
}

export function isQuiet({ due, expired, drift }: DigestContent): boolean {
  return [due, expired, drift.appeared, drift.vanished, drift.changed].every((each) => each.length === 0);
}

export interface Digest extends Omit<DigestContent, 'due'> {
  readonly day: string;
  readonly due: readonly (DueServer & { readonly standing: DueStanding })[];
}

/** When reminders are due: as owners have set it for the digest, or as the form proposes it. */
export async function readReminderSettings({ actor, app }: FollowUpContext): Promise<ReminderSettings> {
  return (await app.workspaces.readSettings(actor.workspaceId)).digest ?? DEFAULT_DIGEST;
}

/** Where the first digest has nothing to compare with, it lists what expired within this time. */
const FIRST_LOOK_BACK_MS = 3 * DAY_MS;

/** Puts together what the digest of that day says. Reads only the store: the list was read before. */
export async function makeContent(
  workspaceId: WorkspaceId,
  day: string,
  settings: ReminderSettings,
  seen: SeenAccount,
  { snapshot: before, lastAt = seen.at - FIRST_LOOK_BACK_MS }: DigestRecord,
  app: AppContext,
): Promise<DigestContent> {
  const marks = await app.serverNotes.list('reminder', workspaceId);
  // Those whose paid time has ended are listed once, as expired: the hosting company may keep them for weeks.
  const ahead = seen.list.servers.filter(({ paidUntil = 0 }) => paidUntil > seen.at);
  const all = listDue(ahead, day, settings, marks);
  const listed = all.filter(({ mark }) => mark === undefined).map(({ server }) => server);
  const hidden = all.flatMap(({ mark }) => mark ?? []);
  return {
    due: await describeDue(listed, day, settings, seen.account, workspaceId, app),
    expired: listExpired(seen, before, lastAt, marks),
    drift: await findDrift(workspaceId, before, seen, app),
    snoozed: hidden.filter(({ untilDay }) => untilDay !== undefined).length,
    left: hidden.filter(({ untilDay }) => untilDay === undefined).length,
    isComplete: seen.list.extent !== 'part',
  };
}

/**
 * The servers whose paid time has ended since the last digest, each listed once. A server that is no longer in a complete list
 * may have been deleted by the hosting company for that reason.
 */
function listExpired(
  { list, account, at }: SeenAccount,
  before: Snapshot | undefined,
  lastAt: number,
  marks: readonly ReminderMark[],
): readonly ExpiredServer[] {
  const hasJustEnded = ({ paidUntil }: { readonly paidUntil?: number }) =>
    paidUntil !== undefined && paidUntil > lastAt && paidUntil <= at;
  const listed = list.servers.filter((server) => !isDeleted(server));
  const ids = new Set(list.servers.map(({ id }) => id));
  const isKnown = list.extent === 'whole' && before !== undefined && account.includes(before.account);
  const missing = isKnown ? before.servers.filter(({ id }) => !ids.has(id)) : [];
  return [
    ...listed.map((server) => ({ server, isListed: true })),
    ...missing.map((server) => ({ server, isListed: false })),
  ]
    .filter(({ server }) => hasJustEnded(server))
    .sort((a, b) => compareServers(a.server, b.server))
    .map(({ server: { id, label, paidUntil = 0 }, isListed }) => {
      const mark = marks.find((each) => each.serverId === id && each.paidUntil === paidUntil);
      const leftBy = mark?.untilDay === undefined ? mark?.by : undefined;
      return { serverId: id, label, paidUntil, isListed, leftBy };
    });
}

export type PaidServer = Server & { readonly paidUntil: number };

/** The servers whose paid time has ended or ends soon, the most urgent first, and what was decided about each. */
export function listDue(
  servers: readonly Server[],
  day: string,
  settings: ReminderSettings,
  marks: readonly ReminderMark[],
): readonly { readonly server: PaidServer; readonly mark: ReminderMark | undefined }[] {
  const marksById = new Map(marks.map((mark) => [mark.serverId, mark]));
  return servers
    .filter((server): server is PaidServer => server.paidUntil !== undefined && !isDeleted(server))
    .filter(({ paidUntil }) => isDue(paidUntil, day, settings))
    .sort((a, b) => a.paidUntil - b.paidUntil || compareServers(a, b))
    .map((server) => {
      const mark = marksById.get(server.id);
      return { server, mark: isHidden(mark, server.paidUntil, day) ? mark : undefined };
    });
}

/** Says how urgent each one is, and what was last paid for it with this app, if that is known. */
export async function describeDue(
  servers: readonly PaidServer[],
  day: string,
  settings: ReminderSettings,
  account: AccountNames,
  workspaceId: WorkspaceId,
  { ledger }: AppContext,
): Promise<readonly DueServer[]> {
  const ids = servers.map(({ id }) => id);
  const paid = new Map((await ledger.listPriced(workspaceId, ids)).map((each) => [each.serverId, each]));
  return servers.map((server) => {
    const { id: serverId, label, paidUntil } = server;
    const daysLeft = countDaysLeft(paidUntil, day, settings.zone);
    const isUrgent = daysLeft <= (settings.daysBefore.at(-1) ?? 0);
    const snoozeEnd = findSnoozeEnd(paidUntil, day, settings);
    const price = findPrice(server, paid.get(serverId), account);
    return { serverId, label, paidUntil, daysLeft, isUrgent, snoozeEnd, price };
  });
}

/** After the API key was replaced, the same ID may be another account's server: then the label has to be the same, too. */
function findPrice({ label }: Server, paid: Operation | undefined, current: AccountNames): Money | undefined {
  if (!paid) return undefined;
  const { account, price, purchase } = paid;
  return isOrderOf({ label: labelOf(purchase), account }, { label }, current) ? price : undefined;
}

/** An action may take this long until the server shows its effect, so what was done shortly before counts as well. */
const EFFECT_MS = 15 * MINUTE_MS;
const ACTIONS = ['start', 'stop', 'reboot', 'delete'] as const;

/**
 * What has happened to the servers since the snapshot that neither the ledger nor the audit of this workspace explains.
 * Nothing is concluded from an incomplete list, or from the list of another account. A server whose paid time has ended
 * is not drift: it is reported as expired.
 */
async function findDrift(
  workspaceId: WorkspaceId,
  before: Snapshot | undefined,
  { account, list, at }: SeenAccount,
  app: AppContext,
): Promise<Drift> {
  if (!before || list.extent !== 'whole' || !account.includes(before.account)) return NO_DRIFT;
  const was = new Map(before.servers.map((server) => [server.id, server]));
  const is = new Map(
    list.servers.filter((server) => !isDeleted(server)).map((server) => [server.id, server]),
  );
  const acted = await listActed(workspaceId, before.at - EFFECT_MS, app);
  const hasEnded = ({ paidUntil = at + 1 }: { readonly paidUntil?: number }) => paidUntil <= at;
  const vanished = [...was.values()].filter(
    (server) => !is.has(server.id) && !acted.deleted.has(server.id) && !hasEnded(server),
  );
  const fresh = [...is.values()].filter(({ id }) => !was.has(id));
  const changed = [...is.values()].flatMap((server) => {
    const earlier = was.get(server.id);
    const isOurs = !earlier || acted.powered.has(server.id) || hasEnded(server);
    if (isOurs || !isChange(earlier.state, server.state)) return [];
    return [{ ...nameOf(server), before: earlier.state, now: server.state }];
  });
  const appeared = await leaveOutOwn(fresh, workspaceId, account, app);
  return { appeared: appeared.map(nameOf), vanished: vanished.map(nameOf), changed };
}

function nameOf({ id: serverId, label }: { readonly id: ServerId; readonly label: string }) {
  return { serverId, label };
}

/** A server that was on its way to another state has only arrived, unless something is wrong with it now. */
function isChange(before: string, now: string): boolean {
  if (before.trim().toLowerCase() === now.trim().toLowerCase()) return false;
  return colorOf({ state: before }) !== 'yellow' || colorOf({ state: now }) === 'red';
}

async function listActed(workspaceId: WorkspaceId, since: number, { audit }: AppContext) {
  const last = new Map<string, StoredEntry>();
  // An action whose outcome was never written may have been carried out.
  for await (const entry of audit.read({ workspaceId, actions: ACTIONS, since }))
    if (entry.serverId !== undefined) last.set(entry.actId, entry);
  const happened = [...last.values()].filter(({ outcome }) => outcome !== 'failed' && outcome !== 'denied');
  const idsOf = (entries: readonly StoredEntry[]) => new Set(entries.map(({ serverId }) => serverId));
  return {
    deleted: idsOf(happened.filter(({ action }) => action === 'delete')),
    powered: idsOf(happened.filter(({ action }) => action !== 'delete')),
  };
}

/** Leaves out servers that this app created for any workspace of the account, and those that an open order may have created. */
async function leaveOutOwn(
  servers: readonly Server[],
  workspaceId: WorkspaceId,
  account: AccountNames,
  { ledger }: AppContext,
): Promise<readonly Server[]> {
  if (servers.length === 0) return [];
  const ids = servers.map(({ id }) => id);
  const own = new Set(await ledger.listSettledIds(account, ids, workspaceId));
  const open = await ledger.listUnresolvedCreates(account, workspaceId);
  return servers.filter(
    ({ id, label }) => !own.has(id) && !open.some(({ purchase }) => isSameLabel(labelOf(purchase), label)),
  );
}

export async function describeDigest(
  workspaceId: WorkspaceId,
  { day, content }: Omit<LiveDigest, 'card'>,
  app: AppContext,
): Promise<Digest> {
  return { ...content, day, due: await addStandings(content.due, workspaceId, day, app) };
}

export async function addStandings(
  servers: readonly DueServer[],
  workspaceId: WorkspaceId,
  day: string,
  app: AppContext,
): Promise<Digest['due']> {
  const ids = servers.map(({ serverId }) => serverId);
  const marks = await app.serverNotes.list('reminder', workspaceId);
  const markOf = new Map(marks.map((mark) => [mark.serverId, mark]));
  const renewals = await app.ledger.listRenewalsOf(workspaceId, ids);
  // The newest of each month.
  const renewalOf = new Map(renewals.map((operation) => [claimOf(operation.purchase), operation]));
  const now = app.system.now();
  /** What was done counts more than what was decided about the reminder. */
  const findStanding = (server: DueServer): DueStanding => {
    const { serverId, paidUntil } = server;
    const renewal = renewalOf.get(claimOf({ kind: 'renew', ...server }));
    // Without a later date it was only decided that it was renewed.
    if (renewal?.paidUntil !== undefined)
      return { kind: 'renewed', by: renewal.actorId, paidUntil: renewal.paidUntil };
    if (renewal) {
      const isOpen = renewal.state === 'prepared' || renewal.state === 'sent';
      return { kind: isOpen ? 'paying' : 'unconfirmed', by: renewal.actorId };
    }
    const hasEnded = paidUntil <= now;
    const mark = markOf.get(serverId);
    if (!mark || !isHidden(mark, paidUntil, day)) return { kind: hasEnded ? 'expired' : 'due' };
    const { by, untilDay } = mark;
    return untilDay === undefined ? { kind: 'left', by, hasEnded } : { kind: 'snoozed', by, untilDay };
  };
  return servers.map((server) => ({ ...server, standing: findStanding(server) }));
}
