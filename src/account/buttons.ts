import { z } from 'zod';
import { AUDIT_ACTIONS, type AuditAction, type AuditEntry } from '../core/audit-entry.ts';
import { defineButton } from '../slack/kit/button.ts';
import { codeTyped, mention, utcDate } from '../slack/kit/text.ts';
import type { AuditWish } from './audit.ts';

/** The groups of actions by which the audit can be filtered. */
export const ACTION_GROUPS = {
  servers: 'Start, stop, reboot, notes',
  purchases: 'Orders and renewals',
  deletions: 'Deletions',
  passwords: 'Root passwords',
  approvals: 'Approvals',
  access: 'Roles',
  account: 'Hosting account',
  settings: 'Settings',
  reading: 'Viewing and exporting',
} as const;
type ActionGroup = keyof typeof ACTION_GROUPS;

interface ActionWords {
  /** Follows a name: "rebooted %". % stands for the subject. */
  readonly did: string;
  /** Follows "couldn't" and "tried to". */
  readonly base: string;
  readonly group: ActionGroup;
}

/** The words of every action. An action without words doesn't compile. */
const ACTIONS: Readonly<Record<AuditAction, ActionWords>> = {
  panel: { did: 'viewed the control panel', base: 'view the control panel', group: 'reading' },
  list: { did: 'listed servers', base: 'list servers', group: 'reading' },
  show: { did: 'viewed %', base: 'view %', group: 'reading' },
  catalog: { did: 'viewed the catalog', base: 'view the catalog', group: 'reading' },
  costs: { did: 'viewed the costs', base: 'view the costs', group: 'reading' },
  start: { did: 'started %', base: 'start %', group: 'servers' },
  stop: { did: 'stopped %', base: 'stop %', group: 'servers' },
  reboot: { did: 'rebooted %', base: 'reboot %', group: 'servers' },
  delete: { did: 'deleted %', base: 'delete %', group: 'deletions' },
  protect: { did: 'protected %', base: 'protect %', group: 'deletions' },
  unprotect: {
    did: 'lifted the protection of %',
    base: 'lift the protection of %',
    group: 'deletions',
  },
  note: { did: 'changed the note on %', base: 'change the note on %', group: 'servers' },
  create: { did: 'created %', base: 'create %', group: 'purchases' },
  renew: { did: 'renewed %', base: 'renew %', group: 'purchases' },
  confirm: { did: 'confirmed the order for %', base: 'order %', group: 'purchases' },
  decide: {
    did: 'closed the unconfirmed order for %',
    base: 'close the unconfirmed order for %',
    group: 'purchases',
  },
  password: {
    did: 'viewed the root password of %',
    base: 'view the root password of %',
    group: 'passwords',
  },
  password_saved: {
    did: 'marked the root password of % as saved',
    base: 'mark the root password of % as saved',
    group: 'passwords',
  },
  approvals: { did: 'viewed pending approvals', base: 'view pending approvals', group: 'reading' },
  approval_ask: { did: 'requested approval for %', base: 'request approval for %', group: 'approvals' },
  approval_answer: { did: 'answered %', base: 'answer %', group: 'approvals' },
  approval_withdraw: {
    did: 'withdrew the request for %',
    base: 'withdraw the request for %',
    group: 'approvals',
  },
  denial_reason: {
    did: 'gave a reason for a denial',
    base: 'give a reason for a denial',
    group: 'approvals',
  },
  access: { did: 'viewed the roles', base: 'view the roles', group: 'reading' },
  access_grant: { did: 'granted %', base: 'grant %', group: 'access' },
  access_revoke: { did: 'revoked %', base: 'revoke %', group: 'access' },
  access_ask: { did: 'requested %', base: 'request %', group: 'access' },
  access_answer: { did: 'answered %', base: 'answer %', group: 'access' },
  access_withdraw: { did: 'withdrew a role request', base: 'withdraw a role request', group: 'access' },
  access_continue: {
    did: 'continued with what they wanted',
    base: 'continue with what they wanted',
    group: 'reading',
  },
  access_ended: { did: 'ended %', base: 'end %', group: 'access' },
  connect: { did: 'connected the hosting account', base: 'connect the hosting account', group: 'account' },
  connect_link: { did: 'requested a connect link', base: 'request a connect link', group: 'account' },
  disconnect: {
    did: 'disconnected the hosting account',
    base: 'disconnect the hosting account',
    group: 'account',
  },
  list_connected: {
    did: 'listed connected workspaces',
    base: 'list connected workspaces',
    group: 'reading',
  },
  key_rotate: {
    did: 'changed the key that encrypts what is stored',
    base: 'change the key that encrypts what is stored',
    group: 'settings',
  },
  settings: { did: 'viewed the settings', base: 'view the settings', group: 'reading' },
  settings_change: { did: 'changed %', base: 'change %', group: 'settings' },
  status: { did: 'viewed the status', base: 'view the status', group: 'reading' },
  audit: { did: 'viewed the audit log', base: 'view the audit log', group: 'reading' },
  audit_export: { did: 'exported the audit log', base: 'export the audit log', group: 'reading' },
  audit_verify: { did: 'verified the audit log', base: 'verify the audit log', group: 'reading' },
  audit_prune: { did: 'removed old audit entries', base: 'remove old audit entries', group: 'settings' },
  list_audited: { did: 'listed audited workspaces', base: 'list audited workspaces', group: 'reading' },
  install: { did: 'installed the app', base: 'install the app', group: 'settings' },
  uninstall: {
    did: 'erased what the app had stored, after it was uninstalled',
    base: 'erase what the app had stored',
    group: 'settings',
  },
  password_erased: {
    did: 'erased the root password of %, because the app was uninstalled',
    base: 'erase the root password of %',
    group: 'passwords',
  },
  restore: {
    did: 'noted that the database was restored from a backup',
    base: 'note that the database was restored from a backup',
    group: 'settings',
  },
  reminders: { did: 'viewed upcoming renewals', base: 'view upcoming renewals', group: 'reading' },
  reminder_snooze: { did: 'snoozed reminders for %', base: 'snooze reminders for %', group: 'purchases' },
  reminder_end: { did: 'left % to expire', base: 'leave % to expire', group: 'purchases' },
  reminder_again: {
    did: 'turned on reminders for %',
    base: 'turn on reminders for %',
    group: 'purchases',
  },
  workflow_keys: { did: 'viewed the workflow keys', base: 'view the workflow keys', group: 'reading' },
  workflow_key_issue: {
    did: 'issued the workflow key %',
    base: 'issue the workflow key %',
    group: 'access',
  },
  workflow_key_revoke: {
    did: 'revoked the workflow key %',
    base: 'revoke the workflow key %',
    group: 'access',
  },
  workflow_answer: {
    did: 'answered a workflow’s step for %',
    base: 'answer a workflow’s step for %',
    group: 'servers',
  },
  workflow_cancel: {
    did: 'canceled a workflow’s step for %',
    base: 'cancel a workflow’s step for %',
    group: 'servers',
  },
  renew_all: { did: 'confirmed several renewals', base: 'renew several servers', group: 'purchases' },
};

/** Finds the words of an action; undefined for one that another version of the app has written. */
export function findActionWords(action: string): ActionWords | undefined {
  return isAuditAction(action) ? ACTIONS[action] : undefined;
}

function listActions(group: ActionGroup): readonly AuditAction[] {
  return AUDIT_ACTIONS.filter((action) => ACTIONS[action].group === group);
}

function isAuditAction(action: string): action is AuditAction {
  return Object.hasOwn(ACTIONS, action);
}

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
/** A filter of the audit. */
export type AuditQuery = z.output<typeof auditQuery>;

/** Converts a query to the filter that `readAudit` takes. */
export function toWish({ group, ...query }: AuditQuery): Omit<AuditWish, 'limit'> {
  return { ...query, actions: group && listActions(group) };
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
/** Opens the workspace's settings. */
export const settingsButton = defineButton('settings', z.object({}));
export const disconnectButton = defineButton('disconnect', z.object({}));
/** Links to one of the app's pages. Slack still reports the press and expects an ack. */
export const linkButton = defineButton('link', z.object({}));

/** Entries before the one with this ID. */
export const auditPageButton = defineButton('audit_page', auditQuery.extend({ before: z.number() }));
export const auditNewestButton = defineButton('audit_newest', auditQuery);
export const auditEntryButton = defineButton('audit_details', z.object({ seq: z.number() }));
export const auditFilterButton = defineButton('audit_filter', auditQuery);
