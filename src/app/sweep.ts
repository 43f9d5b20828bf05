import type { Grant } from '../domain/access.ts';
import { THE_APP } from '../domain/actor.ts';
import type { AuditEntry } from '../domain/audit-entry.ts';
import { DAY_MS, MINUTE_MS } from '../domain/time.ts';
import type { System } from '../system.ts';
import type { Grants } from './access/grants-port.ts';
import type { AuditLog, ConnectLinks } from './account/ports.ts';
import { makeAuditEntry } from './authorize/audit-entry.ts';
import type { OutcomeThreads, ReplyUrls, SeenRequests } from './authorize/ports.ts';
import { type RedrawPorts, redrawHomes } from './home/redraw-homes.ts';
import type { Passwords } from './purchases/ports.ts';
import type { ActMessages } from './servers/ports.ts';
import type { WorkflowRuns } from './workflows/ports.ts';

/** Slack's signatures are valid for five minutes before and after: twice that, and some margin. */
const REPLAY_MS = 11 * MINUTE_MS;

/** Slack gives up on an event after a day at most, and an unanswered run is over after two. */
const RUNS_KEPT_MS = 7 * DAY_MS;

export interface SweepPorts extends RedrawPorts {
  readonly system: System;
  readonly passwords: Pick<Passwords, 'eraseExpired'>;
  readonly replyUrls: Pick<ReplyUrls, 'removeExpired'>;
  readonly outcomeThreads: Pick<OutcomeThreads, 'removeExpired'>;
  readonly actMessages: Pick<ActMessages, 'removeExpired'>;
  readonly connectLinks: Pick<ConnectLinks, 'removeExpired'>;
  readonly seenRequests: Pick<SeenRequests, 'removeBefore'>;
  readonly workflowRuns: Pick<WorkflowRuns, 'removeBefore'>;
  readonly grants: Pick<Grants, 'removeEnded'>;
}

/** Ends what expires: stored passwords, links, temporary roles. For approvals see `sweep-approvals.ts`. */
export async function sweep(ports: SweepPorts): Promise<void> {
  const { system } = ports;
  const now = system.now();
  await ports.passwords.eraseExpired(now);
  await ports.replyUrls.removeExpired(now);
  await ports.outcomeThreads.removeExpired(now);
  await ports.actMessages.removeExpired(now);
  await ports.connectLinks.removeExpired(now);
  await ports.seenRequests.removeBefore(now - REPLAY_MS);
  await ports.workflowRuns.removeBefore(now - RUNS_KEPT_MS);
  const ended = await ports.grants.removeEnded(now, (grant) => auditOfEnd(grant, ports));
  await redrawHomes(ended, ports);
}

export interface PrunePorts {
  readonly system: System;
  readonly audit: Pick<AuditLog, 'prune'>;
  readonly settings: { readonly auditKeepDays: number | undefined };
}

/**
 * Removes audit entries that are older than `AUDIT_KEEP_DAYS`; the chain stays verifiable
 * (docs/decisions/0006-the-audit-is-a-signed-chain.md).
 */
export async function pruneAudit(ports: PrunePorts): Promise<void> {
  const { settings, system } = ports;
  if (settings.auditKeepDays === undefined) return;
  const now = system.now();
  const by = { at: now, actorId: THE_APP, surface: 'background' } as const;
  await ports.audit.prune(now - settings.auditKeepDays * DAY_MS, by);
}

function auditOfEnd(
  { workspaceId, role, pattern, subjectId }: Grant,
  ports: Pick<SweepPorts, 'system'>,
): AuditEntry {
  return makeAuditEntry(ports, {
    workspaceId,
    actorId: THE_APP,
    surface: 'background',
    action: 'access_ended',
    label: [role, pattern, subjectId].filter(Boolean).join(' '),
    outcome: 'done',
  });
}
