import type { Digest, DueServer, DueStanding } from '../../domain/digest.ts';
import type { ServerId, UserId, WorkspaceId } from '../../domain/ids.ts';
import { claimOf, type Operation } from '../../domain/operation.ts';
import { isHidden, type ReminderMark } from '../../domain/reminder.ts';
import type { AppContext } from '../ports.ts';
import type { LiveDigest } from './ports.ts';

/** What is known of the servers of one digest. */
interface Known {
  readonly day: string;
  readonly now: number;
  /** By the month that they are for; the newest of each. */
  readonly renewals: ReadonlyMap<string, Operation>;
  readonly marks: ReadonlyMap<ServerId, ReminderMark>;
  readonly deletedBy: ReadonlyMap<ServerId, UserId>;
}

/** The digest as its message should be now: what was renewed, decided or deleted since is shown in it. */
export async function describeDigest(
  { workspaceId, day, content, postedAt }: Pick<LiveDigest, 'workspaceId' | 'day' | 'content' | 'postedAt'>,
  app: AppContext,
): Promise<Digest> {
  const ids = content.due.map(({ serverId }) => serverId);
  const marks = await app.reminders.listMarks(workspaceId);
  const renewals = await app.reminders.listRenewals(workspaceId, ids);
  const known: Known = {
    day,
    now: app.system.now(),
    renewals: new Map(renewals.map((operation) => [claimOf(operation.purchase), operation])),
    marks: new Map(marks.map((mark) => [mark.serverId, mark])),
    deletedBy: await listDeleted(workspaceId, postedAt, app),
  };
  return {
    ...content,
    day,
    due: content.due.map((server) => ({ ...server, standing: findStanding(server, known) })),
  };
}

/** Who deleted which server with this app since then, as far as that is proven. */
async function listDeleted(
  workspaceId: WorkspaceId,
  since: number,
  { audit }: AppContext,
): Promise<ReadonlyMap<ServerId, UserId>> {
  const deletedBy = new Map<ServerId, UserId>();
  for await (const { serverId, actorId } of audit.read({
    workspaceId,
    actions: ['delete'],
    outcome: 'done',
    since,
  }))
    if (serverId !== undefined) deletedBy.set(serverId, actorId);
  return deletedBy;
}

/** What was done counts more than what was decided about the reminder. */
function findStanding(server: DueServer, known: Known): DueStanding {
  const { serverId, paidUntil } = server;
  const deletedBy = known.deletedBy.get(serverId);
  if (deletedBy !== undefined) return { kind: 'gone', by: deletedBy };
  const renewal = known.renewals.get(claimOf({ kind: 'renew', ...server }));
  if (renewal?.state === 'settled')
    return { kind: 'renewed', by: renewal.actorId, paidUntil: renewal.paidUntil };
  if (renewal)
    return { kind: renewal.state === 'unconfirmed' ? 'unconfirmed' : 'paying', by: renewal.actorId };
  if (paidUntil <= known.now) return { kind: 'expired' };
  const mark = known.marks.get(serverId);
  if (!mark || !isHidden(mark, paidUntil, known.day)) return { kind: 'due' };
  const { by, untilDay } = mark;
  return untilDay === undefined ? { kind: 'left', by } : { kind: 'snoozed', by, untilDay };
}
