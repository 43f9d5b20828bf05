import type { DueServer } from '../../domain/digest.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { isSameLabel } from '../../domain/label.ts';
import type { Money } from '../../domain/money.ts';
import { labelOf } from '../../domain/operation.ts';
import {
  countDaysLeft,
  findSnoozeEnd,
  findUrgency,
  isDue,
  isHidden,
  type ReminderMark,
  type ReminderSettings,
  SNOOZES,
} from '../../domain/reminder.ts';
import { compareServers, isDeleted, type Server } from '../../domain/server.ts';
import type { AppContext } from '../ports.ts';
import type { PaidPrice } from './ports.ts';

/** A server whose paid time is known. */
export type PaidServer = Server & { readonly paidUntil: number };

/** The servers whose paid time ends soon, the most urgent first, and what was decided about each. */
export function listDue(
  servers: readonly Server[],
  day: string,
  now: number,
  settings: ReminderSettings,
  marks: readonly ReminderMark[],
): readonly { readonly server: PaidServer; readonly mark: ReminderMark | undefined }[] {
  const marksById = new Map(marks.map((mark) => [mark.serverId, mark]));
  return servers
    .filter((server): server is PaidServer => server.paidUntil !== undefined && !isDeleted(server))
    .filter(({ paidUntil }) => isDue(paidUntil, day, now, settings))
    .sort((a, b) => a.paidUntil - b.paidUntil || compareServers(a, b))
    .map((server) => {
      const mark = marksById.get(server.id);
      return { server, mark: isHidden(mark, server.paidUntil, day) ? mark : undefined };
    });
}

/** Says of each how urgent it is, and what was last paid for it with this app, where that is known. */
export async function describeDue(
  servers: readonly PaidServer[],
  day: string,
  settings: ReminderSettings,
  keyGeneration: number,
  workspaceId: WorkspaceId,
  { reminders }: AppContext,
): Promise<readonly DueServer[]> {
  const paid = await reminders.listPrices(
    workspaceId,
    servers.map(({ id }) => id),
  );
  const paidById = new Map(paid.map((each) => [each.serverId, each]));
  return servers.map((server) => ({
    serverId: server.id,
    label: server.label,
    paidUntil: server.paidUntil,
    daysLeft: countDaysLeft(server.paidUntil, day, settings.zone),
    urgency: findUrgency(countDaysLeft(server.paidUntil, day, settings.zone), settings.daysBefore),
    snoozes: listSnoozes(server.paidUntil, day, settings),
    price: findPrice(server, paidById.get(server.id), keyGeneration),
  }));
}

function listSnoozes(paidUntil: number, day: string, settings: ReminderSettings): DueServer['snoozes'] {
  return SNOOZES.flatMap((kind) => {
    const untilDay = findSnoozeEnd(kind, paidUntil, day, settings);
    return untilDay === undefined ? [] : [{ kind, untilDay }];
  });
}

/** After the API key was replaced, the same ID may be another account's server: then the label has to be the same, too. */
function findPrice({ label }: Server, paid: PaidPrice | undefined, keyGeneration: number): Money | undefined {
  if (paid?.operation.price === undefined) return undefined;
  const { operation } = paid;
  const isSame = operation.keyGeneration === keyGeneration || isSameLabel(labelOf(operation.purchase), label);
  return isSame ? operation.price : undefined;
}
