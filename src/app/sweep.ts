import type { Grant } from '../domain/access.ts';
import { THE_APP } from '../domain/actor.ts';
import type { AuditEntry } from './ports.ts';
import type { Services } from './services.ts';

/** Slack's signatures are good for five minutes before and after: twice that, and a little. */
const REPLAY_MS = 11 * 60_000;
const DAY_MS = 24 * 3_600_000;

/** What ends by itself: held passwords, links, temporary roles. Approvals: `sweep-approvals.ts`. */
export async function sweep(services: Services): Promise<void> {
  const { store, system } = services;
  const now = system.now();
  await store.passwords.eraseExpired(now);
  await store.replyUrls.removeExpired(now);
  await store.connectLinks.removeExpired(now);
  await store.seenRequests.removeBefore(now - REPLAY_MS);
  await store.grants.removeEnded(now, (grant) => auditOfEnd(grant, services));
}

/** Removes audit entries that are older than they are kept; the chain stays verifiable (decision 6). */
export async function pruneAudit({ store, system, settings }: Services): Promise<void> {
  if (settings.auditKeepDays === undefined) return;
  const now = system.now();
  const by = { at: now, actorId: THE_APP, surface: 'background' } as const;
  await store.audit.prune(now - settings.auditKeepDays * DAY_MS, by);
}

function auditOfEnd(grant: Grant, { system }: Services): AuditEntry {
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
