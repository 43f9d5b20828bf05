import { describeDefect, isRefusal } from '../../domain/errors.ts';
import type { MessageCommand } from '../../domain/message-command.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { Entry } from '../authorize/entry.ts';
import { belongsToWorkspace } from '../authorize/find-roles.ts';
import type { DueCommand, MessagePorts } from './ports.ts';

/** Whether the user may still see the servers that are named. */
type RoleCheck = Pick<Entry<never>, 'hasRole'>;

const MOST_AT_ONCE = 20;
/** Longer than Slack may take. */
const CLAIM_MS = MINUTE_MS;
const SHORTEST_RETRY_MS = 5000;
const LONGEST_RETRY_MS = 10 * MINUTE_MS;

/**
 * Tells users whose command was interrupted by a crash, once each: a command is claimed first. No command is carried out
 * again (docs/decisions/0021-events-run-once-or-not-at-all.md). After a day without success, the sweep removes it.
 */
export async function sweepMessages(roles: RoleCheck, ports: MessagePorts): Promise<void> {
  const due = await ports.messageCommands.listDue(ports.system.now(), MOST_AT_ONCE);
  const end = (command: DueCommand) =>
    endCommand(command, roles, ports).catch((error: unknown) => {
      ports.log.warn('an interrupted message could not be told', {
        id: command.id,
        ...describeDefect(error),
      });
    });
  await Promise.all(due.map(end));
}

async function endCommand(command: DueCommand, roles: RoleCheck, ports: MessagePorts): Promise<void> {
  const { messageCommands, messageNotifier, system, log } = ports;
  if (command.isClaimed) {
    // It may have been told: twice would be worse than not at all.
    log.warn('it is not known whether an interrupted message was told', { id: command.id });
    return messageCommands.remove(command);
  }
  const shown = await describeTo(command, roles, ports);
  if (!(await messageCommands.claim(command, system.now() + CLAIM_MS))) return;
  if (shown === 'nobody') return messageCommands.remove(command);
  const told = shown === 'unknown' ? 'later' : await messageNotifier.tellInterrupted(shown);
  if (told === 'told') return messageCommands.remove(command);
  await messageCommands.release(command, system.now() + retryAfter(command, system.now()));
}

function retryAfter({ receivedAt }: MessageCommand, now: number): number {
  const ageMs = Math.max(0, now - receivedAt);
  return Math.round(Math.min(Math.max(ageMs / 2, SHORTEST_RETRY_MS), LONGEST_RETRY_MS));
}

/**
 * The command without servers that its user may no longer see. `nobody`: the app was uninstalled there, or the user belongs to
 * another organization. `unknown`: Slack didn't say.
 */
async function describeTo(
  command: MessageCommand,
  roles: RoleCheck,
  ports: MessagePorts,
): Promise<MessageCommand | 'nobody' | 'unknown'> {
  const { workspaceId, userId, channelId, homeTeamId, servers } = command;
  const actor = { workspaceId, userId, channelId, ...omitUndefined({ homeTeamId }) };
  const isServed = await ports.installations.isServed(workspaceId);
  if (isServed === undefined) return 'unknown';
  if (!isServed) return 'nobody';
  if (homeTeamId !== undefined && !(await ports.users.find(workspaceId, userId))) return 'unknown';
  if (!(await belongsToWorkspace(actor, ports))) return 'nobody';
  try {
    const may = await Promise.all(servers.map(({ label }) => roles.hasRole(actor, 'viewer', label)));
    return { ...command, servers: may.every(Boolean) ? servers : [] };
  } catch (error) {
    if (isRefusal(error, 'identity_unknown')) return 'unknown';
    throw error;
  }
}
