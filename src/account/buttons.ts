import { z } from 'zod';
import { ACTION_GROUPS, AUDIT_ACTIONS, type AuditEntry, isAuditAction } from '../core/audit-entry.ts';
import { defineButton } from '../slack/kit/button.ts';
import { codeTyped, mention, utcDate } from '../slack/kit/text.ts';
import type { AuditWish } from './audit.ts';

type ActionGroup = keyof typeof ACTION_GROUPS;

const groups = Object.keys(ACTION_GROUPS) as [ActionGroup, ...ActionGroup[]];

/** The outcomes by which the audit can be filtered. */
export const OUTCOME_FILTERS = {
  done: 'Succeeded',
  failed: 'Failed',
  denied: 'Denied',
  in_doubt: 'Unconfirmed',
} as const satisfies Partial<Readonly<Record<AuditEntry['outcome'], string>>>;
type OutcomeFilter = keyof typeof OUTCOME_FILTERS;
const outcomes = Object.keys(OUTCOME_FILTERS) as [OutcomeFilter, ...OutcomeFilter[]];

/** A filter of the audit, as buttons and the form carry it. */
export const auditQuery = z.object({
  server: z.string().exactOptional(),
  actorId: z.string().exactOptional(),
  group: z.enum(groups).exactOptional(),
  outcome: z.enum(outcomes).exactOptional(),
  /** Epoch milliseconds. */
  since: z.number().exactOptional(),
});
export type AuditQuery = z.output<typeof auditQuery>;

/** Converts a query to the filter that `readAudit` takes. */
export function toWish({ group, ...query }: AuditQuery): Omit<AuditWish, 'limit'> {
  const all = Object.keys(AUDIT_ACTIONS).filter(isAuditAction);
  return { ...query, actions: group && all.filter((action) => AUDIT_ACTIONS[action].group === group) };
}

/** Describes a query: "by @mara, denied, since 2026-01-31 00:00 UTC". Empty without filters. */
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

export const connectButton = defineButton('connect', z.object({}));
/** Offers an owner to connect an account, where none is connected. */
export const connectStep = () => connectButton.element('Connect…', {}, { style: 'primary' });
export const settingsButton = defineButton('settings', z.object({}));
export const disconnectButton = defineButton('disconnect', z.object({}));
/** Links to one of the app's pages. Slack still reports the press and expects an ack. */
export const linkButton = defineButton('link', z.object({}));

/** Entries before the one with this ID. */
export const auditPageButton = defineButton('audit_page', auditQuery.extend({ before: z.number() }));
export const auditNewestButton = defineButton('audit_newest', auditQuery);
export const auditEntryButton = defineButton('audit_details', z.object({ seq: z.number() }));
export const auditFilterButton = defineButton('audit_filter', auditQuery);
