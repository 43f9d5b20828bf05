import { THE_APP } from '../../domain/actor.ts';
import { describeDefect, isExpected } from '../../domain/errors.ts';
import type { AuditEntry } from '../ports.ts';
import type { Services } from '../services.ts';
import { notifyAccessRequest } from './notify-access-request.ts';
import type { AccessRequest } from './ports.ts';

/** Whoever changed its state is telling it just now. */
const TELLING_MS = 60_000;
/** After this time, telling is given up. */
const TELL_MS = 24 * 3_600_000;

/** Ends requests for a role that nobody answered, and tells what a dead process or a silent Slack has left. */
export async function sweepAccessRequests(services: Services, startedAt: number): Promise<void> {
  const { accessRequests } = services.store;
  const now = services.system.now();
  const expired = await accessRequests.expire(now, (request) => auditOfEnd(request, services));
  // What was left before this process started nobody is telling any more.
  const untold = await accessRequests.listUnnotified(Math.max(startedAt, now - TELLING_MS));
  for (const request of [...expired, ...untold]) {
    await moveOn(request, now, services).catch((error: unknown) => {
      const cause = isExpected(error) ? { cause: error.code } : describeDefect(error);
      services.log.warn('a request for a role could not be moved on', { requestId: request.id, ...cause });
    });
  }
}

async function moveOn(request: AccessRequest, now: number, services: Services): Promise<void> {
  const { id, state, requestedAt, decidedAt } = request;
  if (now - (decidedAt ?? requestedAt) <= TELL_MS) {
    await notifyAccessRequest(id, services);
    return;
  }
  // A message about it would come too late; its buttons go all the same.
  if (state !== 'open') await services.notifier.updateAccessCards(request);
  await services.store.accessRequests.markNotified(id, state);
}

function auditOfEnd(
  { workspaceId, role, pattern, requesterId }: AccessRequest,
  { system }: Services,
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
