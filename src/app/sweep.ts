import type { Grant } from '../domain/access.ts';
import { THE_APP } from '../domain/actor.ts';
import type { AuditEntry } from '../domain/audit-entry.ts';
import { DAY_MS, MINUTE_MS } from '../domain/time.ts';
import { makeAuditEntry } from './authorize/audit-entry.ts';
import { redrawHomes } from './home/redraw-homes.ts';
import type { AppContext } from './ports.ts';

/** Slack's signatures are valid for five minutes before and after: twice that, and some margin. */
const REPLAY_MS = 11 * MINUTE_MS;

/** Slack gives up on an event after a day at most, and an unanswered run is over after two. */
const RUNS_KEPT_MS = 7 * DAY_MS;

/** Ends what expires: stored passwords, links, temporary roles. For approvals see `sweep-approvals.ts`. */
export async function sweep(app: AppContext): Promise<void> {
  const { system } = app;
  const now = system.now();
  await app.passwords.eraseExpired(now);
  await app.replyUrls.removeExpired(now);
  await app.outcomeThreads.removeExpired(now);
  await app.actMessages.removeExpired(now);
  await app.connectLinks.removeExpired(now);
  await app.seenRequests.removeBefore(now - REPLAY_MS);
  await app.workflowRuns.removeBefore(now - RUNS_KEPT_MS);
  const ended = await app.grants.removeEnded(now, (grant) => auditOfEnd(grant, app));
  await redrawHomes(ended, app);
}

/**
 * Removes audit entries that are older than `AUDIT_KEEP_DAYS`; the chain stays verifiable
 * (docs/decisions/0006-the-audit-is-a-signed-chain.md).
 */
export async function pruneAudit(app: AppContext): Promise<void> {
  const { settings, system } = app;
  if (settings.auditKeepDays === undefined) return;
  const now = system.now();
  const by = { at: now, actorId: THE_APP, surface: 'background' } as const;
  await app.audit.prune(now - settings.auditKeepDays * DAY_MS, by);
}

function auditOfEnd({ workspaceId, role, pattern, subjectId }: Grant, app: AppContext): AuditEntry {
  return makeAuditEntry(app, {
    workspaceId,
    actorId: THE_APP,
    surface: 'background',
    action: 'access_ended',
    label: [role, pattern, subjectId].filter(Boolean).join(' '),
    outcome: 'done',
  });
}
