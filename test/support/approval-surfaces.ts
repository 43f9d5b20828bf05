import type { Terms } from '../../src/app/purchases/review-purchase.ts';
import { APPROVAL_MS, type Approval, type ApprovalAction } from '../../src/domain/approval.ts';
import type { Plan } from '../../src/domain/catalog.ts';
import { Refusal } from '../../src/domain/errors.ts';
import { money } from '../../src/domain/money.ts';
import { DEFAULT_SETTINGS, type WorkspaceSettings } from '../../src/domain/settings.ts';
import { savedWords, settingsView } from '../../src/slack/account/settings-form.ts';
import { statusMessage } from '../../src/slack/account/status.ts';
import {
  approvalCard,
  approvalMessage,
  deletedAnnouncement,
} from '../../src/slack/approvals/approval-card.ts';
import { answeredWords, approvalWords } from '../../src/slack/approvals/approval-words.ts';
import { textMessage } from '../../src/slack/kit/blocks.ts';
import { noticeView } from '../../src/slack/kit/form.ts';
import { createReviewView } from '../../src/slack/purchases/create-review.ts';
import { renewReviewView } from '../../src/slack/purchases/renew-review.ts';
import { deleteView } from '../../src/slack/servers/delete-dialog.ts';
import { DAY_MS, makeServer, NOW, ORDER } from './fixtures.ts';
import type { Surface } from './surfaces.ts';

const ORIGIN = { formId: '01K5ZZZZZZZZZZZZZZZZZZZZZZ', channelId: 'C0OPS00001' };
const surface = (name: string, make: Surface['make']): Surface => ({ name, make });

export function makeApproval(more: Partial<Approval> = {}): Approval {
  return {
    id: '01K5ZZZZZZZZZZZZZZZZZZZZZZ',
    workspaceId: 'T0TEAM00001',
    requesterId: 'U0MANAGER01',
    channelId: 'C0OPS00001',
    action: { kind: 'purchase', purchase: { kind: 'create', order: ORDER }, price: money(590) },
    isOverBudget: false,
    state: 'open',
    requestedAt: NOW,
    expiresAt: NOW + APPROVAL_MS,
    isNotified: false,
    cards: [],
    ...more,
  };
}

function deedsOf(label: string): ApprovalAction[] {
  const renew = { kind: 'renew' as const, serverId: 42, label, paidUntil: NOW };
  return [
    {
      kind: 'purchase',
      purchase: { kind: 'create', order: { ...ORDER, label } },
      price: money(99_999_999_900),
    },
    { kind: 'purchase', purchase: renew, price: money(590) },
    { kind: 'purchase', purchase: renew },
    { kind: 'delete', serverId: 42, label, paidUntil: NOW + 30 * DAY_MS },
    { kind: 'delete', serverId: 42, label },
  ];
}

const VOID_REASONS = [
  'role_needed',
  'price_moved',
  'unknown_server',
  'label_differs',
  'already_renewed',
  'over_budget',
  'stale_confirmation',
  'account_changed',
  'unknown_choice',
  'something_else',
];
const END_REASONS = [
  'done',
  'no_answer',
  'lost_account',
  'defect',
  'wrong_state',
  'not_found',
  'no_api_key',
  'rate_limited',
];

function outcomesOf(action: ApprovalAction): Approval[] {
  const by = { decidedBy: 'U0OWNER0001', decidedAt: NOW };
  return [
    makeApproval({ action }),
    makeApproval({ action, isOverBudget: true }),
    makeApproval({ action, state: 'approved', ...by }),
    makeApproval({ action, state: 'denied', ...by }),
    makeApproval({ action, state: 'expired' }),
    ...VOID_REASONS.map((reason) => makeApproval({ action, state: 'void', reason, ...by })),
    ...(action.kind === 'delete'
      ? END_REASONS.map((reason) => makeApproval({ action, state: 'ended', reason, ...by }))
      : []),
  ];
}

/** What is seen while something about a server of this label waits for a second person, and after that. */
export function approvalSurfaces(label: string): Surface[] {
  const deeds = deedsOf(label);
  const waiting = [...deeds, ...deeds].map((action, at) => ({
    approval: makeApproval({ action }),
    canAnswer: at % 4 !== 1,
  }));
  const api = { isUsable: false, error: new Refusal('no_api_key', {}) } as const;
  return [
    ...deeds.flatMap(outcomesOf).flatMap(surfacesOf),
    surface('told to all: approved delete', () =>
      deletedAnnouncement(makeApproval({ action: deeds[3] as ApprovalAction, decidedBy: 'U0OWNER0001' })),
    ),
    surface('status: what waits for a second person', () =>
      statusMessage({ api, open: [], passwordsHeld: 0, waiting }, 'EUR'),
    ),
    ...termsSurfaces(label),
  ];
}

function surfacesOf(approval: Approval): Surface[] {
  const { action, state, reason, isOverBudget } = approval;
  const kind = action.kind === 'delete' ? 'delete' : action.purchase.kind;
  const isBare = action.kind === 'delete' ? action.paidUntil === undefined : action.price === undefined;
  const name = [kind, isBare ? 'little known' : '', state, reason, isOverBudget ? 'over budget' : '']
    .filter(Boolean)
    .join(', ');
  return [
    surface(`approval card: ${name}`, () => approvalCard(approval, 'EUR')),
    surface(`approval told: ${name}`, () => approvalMessage(approval, '')),
    surface(`approval in the modal: ${name}`, () =>
      noticeView('Create a server', approvalWords(approval, 'EUR')),
    ),
    ...(['approved', 'denied', 'void'].includes(state)
      ? [surface(`approval answered: ${name}`, () => textMessage(answeredWords(approval)))]
      : []),
  ];
}

const MOST = money(99_999_999_900);
const budget = {
  budget: { since: NOW, workspace: MOST, person: MOST },
  spent: { workspace: MOST, person: money(0) },
};

/** The terms under which something is bought. */
export const NO_TERMS: Terms = { isOverBudget: false, takesApproval: false };
const TERMS: Readonly<Record<string, Terms>> = {
  'takes approval': { isOverBudget: false, takesApproval: true },
  'within the budget': { isOverBudget: false, takesApproval: false, budget },
  'over the budget': { isOverBudget: true, takesApproval: false, budget },
  'over the budget, takes approval': { isOverBudget: true, takesApproval: true, budget },
  'within the workspace’s budget': {
    ...NO_TERMS,
    budget: { ...budget, budget: { since: NOW, workspace: MOST } },
  },
};

function termsSurfaces(label: string): Surface[] {
  const server = makeServer({ label });
  const plan: Plan = { code: 'small', vcpu: 1, ramMb: 1024, diskGb: 20, monthly: money(590) };
  const order = { ...ORDER, label: label.slice(0, 300) };
  return [
    ...Object.entries(TERMS).flatMap(([name, terms]) => [
      surface(`create, ${name}`, () => createReviewView({ order, plan, terms }, ORIGIN, 'EUR')),
      surface(`renew, ${name}`, () =>
        renewReviewView({ server, plan, paidUntil: NOW, terms }, ORIGIN, 'EUR', NOW),
      ),
      surface(`renew, price unknown, ${name}`, () =>
        renewReviewView({ server, paidUntil: NOW, terms }, ORIGIN, '', NOW),
      ),
    ]),
    surface('delete, takes approval', () => deleteView({ server, takesApproval: true }, ORIGIN, NOW)),
  ];
}

const EVERYTHING: WorkspaceSettings = {
  announces: false,
  approval: { delete: true, renew: true, createAbove: MOST },
  budget: { workspace: MOST, person: money(0) },
  channelId: 'C0OPS00001',
};

/** The settings of a workspace, and what is said when they are saved. */
export const settingsSurfaces: readonly Surface[] = [
  surface('settings, nothing set', () => settingsView(DEFAULT_SETTINGS, ORIGIN, '')),
  surface('settings, everything set', () => settingsView(EVERYTHING, ORIGIN, 'EUR')),
  surface('settings, everything saved', () => textMessage(savedWords(DEFAULT_SETTINGS, EVERYTHING, 'EUR'))),
  surface('settings, everything taken back', () =>
    textMessage(savedWords(EVERYTHING, DEFAULT_SETTINGS, 'EUR')),
  ),
  surface('settings, nothing changed', () => textMessage(savedWords(EVERYTHING, EVERYTHING, 'EUR'))),
];
