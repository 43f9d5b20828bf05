import { z } from 'zod';
import type { AuditWish } from '../../app/account/read-audit.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import { codeTyped, mention, utcDate } from '../kit/text.ts';
import { ACTION_GROUPS, type ActionGroup, listActions } from './action-words.ts';

const groups = Object.keys(ACTION_GROUPS) as [ActionGroup, ...ActionGroup[]];
export const OUTCOME_FILTERS = {
  done: 'Succeeded',
  failed: 'Failed',
  denied: 'Denied',
  in_doubt: 'Unconfirmed',
} as const satisfies Partial<Readonly<Record<AuditEntry['outcome'], string>>>;
type OutcomeFilter = keyof typeof OUTCOME_FILTERS;
const outcomes = Object.keys(OUTCOME_FILTERS) as [OutcomeFilter, ...OutcomeFilter[]];

/** Which entries are wanted, as it is carried by buttons and by the form. */
export const auditQuery = z.object({
  server: z.string().exactOptional(),
  actorId: z.string().exactOptional(),
  group: z.enum(groups).exactOptional(),
  outcome: z.enum(outcomes).exactOptional(),
  /** Epoch milliseconds. */
  since: z.number().exactOptional(),
});
export type AuditQuery = z.output<typeof auditQuery>;

/** The same as the use case takes it. */
export function toWish({ group, ...query }: AuditQuery): Omit<AuditWish, 'limit'> {
  return { ...query, actions: group && listActions(group) };
}

/** "by @mara, denied, since 2026-01-31 00:00 UTC"; empty for everything. */
export function describeQuery({ server, actorId, group, outcome, since }: AuditQuery): string {
  const parts = [
    server === undefined ? '' : codeTyped(server),
    actorId === undefined ? '' : `by ${mention(actorId)}`,
    group === undefined ? '' : ACTION_GROUPS[group].toLowerCase(),
    outcome === undefined ? '' : OUTCOME_FILTERS[outcome].toLowerCase(),
    since === undefined ? '' : `since ${utcDate(since)}`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}
