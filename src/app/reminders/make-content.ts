import type { DigestContent, ExpiredServer } from '../../domain/digest.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { ReminderMark, ReminderSettings } from '../../domain/reminder.ts';
import { compareServers, isDeleted, type Server } from '../../domain/server.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { AppContext } from '../ports.ts';
import { findDrift } from './find-drift.ts';
import { describeDue, listDue } from './list-due.ts';
import type { Snapshot } from './ports.ts';
import type { SeenAccount } from './seen-account.ts';

/** Where the first digest has nothing to compare with, it lists what expired within this time. */
const FIRST_LOOK_BACK_MS = 3 * DAY_MS;

/** Puts together what the digest of that day says. Reads only the store: the list was read before. */
export async function makeContent(
  workspaceId: WorkspaceId,
  day: string,
  settings: ReminderSettings,
  seen: SeenAccount,
  app: AppContext,
): Promise<DigestContent> {
  const { digests, reminders } = app;
  const marks = await reminders.listMarks(workspaceId);
  const before = await digests.findSnapshot(workspaceId);
  const all = listDue(seen.list.servers, day, seen.at, settings, marks);
  const listed = all.filter(({ mark }) => mark === undefined).map(({ server }) => server);
  const hidden = all.flatMap(({ mark }) => mark ?? []);
  const lastAt = (await digests.findLastAt(workspaceId)) ?? seen.at - FIRST_LOOK_BACK_MS;
  return {
    due: await describeDue(listed, day, settings, seen.keyGeneration, workspaceId, app),
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
  const hasJustEnded = ({ paidUntil }: Pick<Server, 'paidUntil'>) =>
    paidUntil !== undefined && paidUntil > lastAt && paidUntil <= at;
  const listed = list.servers.filter((server) => !isDeleted(server));
  const ids = new Set(list.servers.map(({ id }) => id));
  const isKnown = list.extent === 'whole' && before?.account === account;
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
