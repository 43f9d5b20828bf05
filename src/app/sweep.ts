import type { Grant } from '../domain/access.ts';
import { THE_APP } from '../domain/actor.ts';
import type { AuditEntry } from '../domain/audit-entry.ts';
import { DAY_MS, MINUTE_MS } from '../domain/time.ts';
import type { AppPorts } from './ports.ts';

/** Slack's signatures are good for five minutes before and after: twice that, and a little. */
const REPLAY_MS = 11 * MINUTE_MS;

/** What ends by itself: held passwords, links, temporary roles. Approvals: `sweep-approvals.ts`. */
export async function sweep(ports: AppPorts): Promise<void> {
  const { system } = ports;
  const now = system.now();
  await ports.passwords.eraseExpired(now);
  await ports.replyUrls.removeExpired(now);
  await ports.connectLinks.removeExpired(now);
  await ports.seenRequests.removeBefore(now - REPLAY_MS);
  await ports.apiCalls.removeBefore(now - REPLAY_MS);
  await ports.grants.removeEnded(now, (grant) => auditOfEnd(grant, ports));
}

/** Removes audit entries that are older than they are kept; the chain stays verifiable (docs/decisions/0006-the-audit-is-a-signed-chain.md). */
export async function pruneAudit(ports: AppPorts): Promise<void> {
  const { settings, system } = ports;
  if (settings.auditKeepDays === undefined) return;
  const now = system.now();
  const by = { at: now, actorId: THE_APP, surface: 'background' } as const;
  await ports.audit.prune(now - settings.auditKeepDays * DAY_MS, by);
}

function auditOfEnd(grant: Grant, { system }: AppPorts): AuditEntry {
  return {
    at: system.now(),
    workspaceId: grant.workspaceId,
    actorId: THE_APP,
    surface: 'background',
    action: 'access_ended',
    actId: system.newId(),
    label: [grant.role, grant.pattern, grant.subjectId].filter(Boolean).join(' '),
    outcome: 'done',
  };
}
