import type { Purchase } from '../purchases/operation.ts';
import type { ChannelId, UserId } from './ids.ts';
import { describeMoney, type Money } from './money.ts';

/** What needs a second person's approval (off by default). */
interface ApprovalRule {
  readonly delete: boolean;
  readonly renew: boolean;
  /** Creates above this monthly price; 0 for all that cost something. */
  readonly createAbove?: Money;
}

/** Nothing is bought or renewed until an owner lifts it. */
export interface PurchaseFreeze {
  readonly by: UserId;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** What owners set for their workspace. */
export interface WorkspaceSettings {
  /** Whether changes are announced in the channel. */
  readonly announces: boolean;
  readonly approval: ApprovalRule;
  /** The most that may be spent with this app in one month of UTC; absent for no limit. */
  readonly budget: { readonly workspace?: Money; readonly person?: Money };
  /** Where approval requests are posted; absent: to users directly. */
  readonly channelId?: string;
  readonly freeze?: PurchaseFreeze;
  /** What amounts are in, instead of the operator's `HOSTING_CURRENCY`. */
  readonly currency?: string;
  /** The daily digest; absent: none is posted. */
  readonly digest?: DigestSettings;
}

export const DEFAULT_SETTINGS: WorkspaceSettings = {
  announces: true,
  approval: { delete: false, renew: false },
  budget: {},
};

/** Whether a purchase needs approval. */
export function needsApproval(rule: ApprovalRule, kind: Purchase['kind'], price: Money | undefined): boolean {
  if (kind === 'renew') return rule.renew;
  return rule.createAbove !== undefined && (price === undefined || price > rule.createAbove);
}

/** Whether the rule is on for this kind at all: then purchases over budget need approval instead of being refused. */
export function takesApprovals(rule: ApprovalRule, kind: Purchase['kind']): boolean {
  return kind === 'renew' ? rule.renew : rule.createAbove !== undefined;
}

/** One setting that differs; `before` and `after` are absent where it is not set. */
interface SettingChange {
  readonly name: SettingName;
  readonly before?: string;
  readonly after?: string;
}

/** Lists what differs, amounts as decimals. */
export function listChanges(was: WorkspaceSettings, is: WorkspaceSettings): readonly SettingChange[] {
  const before = flatten(was);
  const after = flatten(is);
  return SETTING_NAMES.filter((name) => before[name] !== after[name]).map((name) => ({
    name,
    before: before[name],
    after: after[name],
  }));
}

export const SETTING_NAMES = [
  'freeze',
  'announces',
  'approval.delete',
  'approval.renew',
  'approval.createAbove',
  'budget.workspace',
  'budget.person',
  'channel',
  'currency',
  'digest.channel',
  'digest.hour',
  'digest.zone',
  'digest.days',
] as const;
export type SettingName = (typeof SETTING_NAMES)[number];

function flatten({ announces, approval, budget, channelId, freeze, currency, digest }: WorkspaceSettings) {
  const amount = (money: Money | undefined) => (money === undefined ? undefined : describeMoney(money));
  const flat: Readonly<Record<SettingName, string | undefined>> = {
    freeze: freeze && `${freeze.by} ${new Date(freeze.since).toISOString()}`,
    announces: String(announces),
    'approval.delete': String(approval.delete),
    'approval.renew': String(approval.renew),
    'approval.createAbove': amount(approval.createAbove),
    'budget.workspace': amount(budget.workspace),
    'budget.person': amount(budget.person),
    channel: channelId,
    currency,
    'digest.channel': digest?.channelId,
    'digest.hour': digest && String(digest.hour),
    'digest.zone': digest?.zone,
    'digest.days': digest && describeDaysBefore(digest.daysBefore),
  };
  return flat;
}

/** The daily digest of a workspace. Without it there is none. */
export interface DigestSettings {
  readonly channelId: ChannelId;
  /** 0 to 23, on the clocks of that zone. */
  readonly hour: number;
  /** An IANA name such as Europe/Berlin. */
  readonly zone: string;
  /** How many days before the paid time ends a server is listed, and counts as more urgent; the largest first. */
  readonly daysBefore: readonly number[];
}

/** What the form proposes, besides the owner's own time zone. */
export const DEFAULT_DIGEST = { hour: 9, zone: 'UTC', daysBefore: [7, 3, 1] } as const;

const MOST_STEPS = 5;
const MOST_DAYS = 60;

/** Reads "7, 3, 1" in any order; undefined for anything but up to five numbers of days from 1 to 60. */
export function findDaysBefore(typed: string): readonly number[] | undefined {
  const words = typed.split(/[\s,;]+/).filter((word) => word !== '');
  const days = [...new Set(words.map((word) => (/^\d{1,2}$/.test(word) ? Number(word) : Number.NaN)))];
  const areDays = days.every((each) => each >= 1 && each <= MOST_DAYS);
  if (!areDays || days.length === 0 || days.length > MOST_STEPS) return undefined;
  return days.sort((a, b) => b - a);
}

/** Writes it for the form: "7, 3, 1". */
export function describeDaysBefore(days: readonly number[]): string {
  return days.join(', ');
}
