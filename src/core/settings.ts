import type { WorkspaceSettings } from '../account/workspaces.ts';
import type { Purchase } from '../purchases/operation.ts';
import { describeMoney, type Money } from './money.ts';

export type { WorkspaceSettings };

type ApprovalRule = WorkspaceSettings['approval'];
export type PurchaseFreeze = NonNullable<WorkspaceSettings['freeze']>;
export type DigestSettings = NonNullable<WorkspaceSettings['digest']>;

export const DEFAULT_SETTINGS: WorkspaceSettings = {
  announces: true,
  approval: { delete: false, renew: false },
  budget: {},
};

/** Whether the two-person rule requires approval for a purchase at this price; undefined: the price is unknown. */
export function needsApproval(rule: ApprovalRule, kind: Purchase['kind'], price: Money | undefined): boolean {
  if (kind === 'renew') return rule.renew;
  return rule.createAbove !== undefined && (price === undefined || price > rule.createAbove);
}

/** Whether the two-person rule is on for this kind of purchase: over budget, it then needs approval instead of being refused. */
export function takesApprovals(rule: ApprovalRule, kind: Purchase['kind']): boolean {
  return kind === 'renew' ? rule.renew : rule.createAbove !== undefined;
}

/** One changed setting as text; `before` or `after` is absent if it was not, or is not, set. */
export interface SettingChange {
  readonly name: SettingName;
  readonly before?: string;
  readonly after?: string;
}

export function listChanges(was: WorkspaceSettings, is: WorkspaceSettings): readonly SettingChange[] {
  const before = writeSettings(was);
  const after = writeSettings(is);
  const names = Object.keys(after) as (keyof typeof after)[];
  const changed = names.filter((name) => before[name] !== after[name]);
  return changed.map((name) => ({ name, before: before[name], after: after[name] }));
}

export type SettingName = keyof ReturnType<typeof writeSettings>;

/** Writes each setting as text: amounts as decimals, times in ISO 8601; undefined if it isn't set. */
export function writeSettings(settings: WorkspaceSettings) {
  const { announces, approval, budget, channelId, freeze, digest } = settings;
  const amount = (money: Money | undefined) => (money === undefined ? undefined : describeMoney(money));
  return {
    freeze: freeze && `${freeze.by} ${new Date(freeze.since).toISOString()}`,
    announces: String(announces),
    'approval.delete': String(approval.delete),
    'approval.renew': String(approval.renew),
    'approval.createAbove': amount(approval.createAbove),
    'budget.workspace': amount(budget.workspace),
    'budget.person': amount(budget.person),
    channel: channelId,
    'digest.channel': digest?.channelId,
    'digest.hour': digest && String(digest.hour),
    'digest.zone': digest?.zone,
    'digest.days': digest && describeDaysBefore(digest.daysBefore),
  };
}

/** The kind of job that posts the digest of a workspace at its hour; its key is the workspace's ID. */
export const DIGEST = 'digest';

/** The values that the form proposes; for the zone only if the owner's own is unknown. */
export const DEFAULT_DIGEST = { hour: 9, zone: 'UTC', daysBefore: [7, 3, 1] } as const;

const MOST_STEPS = 5;
const MOST_DAYS = 60;

/** Reads one to five numbers of days from 1 to 60, such as "7, 3, 1", in any order; undefined for anything else. */
export function findDaysBefore(typed: string): readonly number[] | undefined {
  const words = typed.split(/[\s,;]+/).filter((word) => word !== '');
  const days = [...new Set(words.map((word) => (/^\d{1,2}$/.test(word) ? Number(word) : Number.NaN)))];
  const areDays = days.every((each) => each >= 1 && each <= MOST_DAYS);
  if (!areDays || days.length === 0 || days.length > MOST_STEPS) return undefined;
  return days.sort((a, b) => b - a);
}

/** Writes numbers of days as the form shows them: "7, 3, 1". */
export function describeDaysBefore(days: readonly number[]): string {
  return days.join(', ');
}
