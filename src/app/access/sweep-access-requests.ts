import type { AccessRequest } from '../../domain/access-request.ts';
import { THE_APP } from '../../domain/actor.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import { describeDefect, isExpected } from '../../domain/errors.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/time.ts';
import type { AppPorts } from '../ports.ts';
import { notifyAccessRequest } from './notify-access-request.ts';

/** Whoever changed its state is telling it just now. */
const TELLING_MS = MINUTE_MS;
/** After this time, telling is given up. */
const TELL_MS = DAY_MS;

/** Ends requests for a role that nobody answered, and tells what a dead process or a silent Slack has left. */
export async function sweepAccessRequests(ports: AppPorts, startedAt: number): Promise<void> {
  const { accessRequests } = ports;
  const now = ports.system.now();
  const expired = await accessRequests.expire(now, (request) => auditOfEnd(request, ports));
  // What was left before this process started nobody is telling any more.
  const untold = await accessRequests.listUnnotified(Math.max(startedAt, now - TELLING_MS));
  for (const request of [...expired, ...untold]) {
    await moveOn(request, now, ports).catch((error: unknown) => {
      const cause = isExpected(error) ? { cause: error.code } : describeDefect(error);
      ports.log.warn('a request for a role could not be moved on', { requestId: request.id, ...cause });
    });
  }
}

async function moveOn(request: AccessRequest, now: number, ports: AppPorts): Promise<void> {
  const { id, state, requestedAt, decidedAt } = request;
  if (now - (decidedAt ?? requestedAt) <= TELL_MS) {
    await notifyAccessRequest(id, ports);
    return;
  }
  // A message about it would come too late; its buttons go all the same.
  if (state !== 'open') await ports.accessNotifier.updateCards(request);
  await ports.accessRequests.markNotified(id, state);
}

function auditOfEnd(
  { workspaceId, role, pattern, requesterId }: AccessRequest,
  { system }: AppPorts,
): AuditEntry {
  return {
    at: system.now(),
    workspaceId,
    actorId: THE_APP,
    surface: 'background',
    action: 'access_answer',
    actId: system.newId(),
    label: [role, pattern, requesterId].filter(Boolean).join(' '),
    outcome: 'failed',
    code: 'expired',
  };
}
