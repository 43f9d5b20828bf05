import type { KnownBlock } from '@slack/types';
import type { BudgetState } from '../../app/purchases/budget.ts';
import type { Terms } from '../../app/purchases/review-purchase.ts';
import { describeMoney } from '../../domain/money.ts';
import { context, section } from '../kit/blocks.ts';
import { escapeText } from '../kit/text.ts';

/** What a review says beforehand of the budget and of the approval that it needs. */
export function termsBlocks(terms: Terms, isPriceKnown: boolean, currency: string): KnownBlock[] {
  const { budget, takesApproval } = terms;
  return [
    ...overBlocks(terms),
    ...(takesApproval && !terms.isOverBudget ? [context(APPROVAL_WORDS)] : []),
    ...(budget ? [context(budgetWords(budget, isPriceKnown, currency))] : []),
  ];
}

const APPROVAL_WORDS = 'Another manager must approve this. Nothing is charged until then.';

function overBlocks({ isOverBudget, takesApproval }: Terms): KnownBlock[] {
  if (!isOverBudget) return [];
  const words = takesApproval
    ? 'This exceeds this month’s budget, so another manager must approve it first. Nothing is charged until then.'
    : 'This exceeds this month’s budget and will be refused. An owner can change the budget with `/vps settings`.';
  return [section(`:warning: ${words}`)];
}

function budgetWords({ budget, spent }: BudgetState, isPriceKnown: boolean, currency: string): string {
  const line = (whose: 'workspace' | 'person', by: string) => {
    const most = budget[whose];
    if (most === undefined) return [];
    return [
      `*${describeMoney(spent[whose], '')} of ${describeMoney(most, currency)}* spent this month ${by} through this app.`,
    ];
  };
  const lines = [...line('workspace', 'by the workspace'), ...line('person', 'by you')];
  const unknown = isPriceKnown ? '' : ' This renewal won’t count: we don’t know its price.';
  return `${escapeText(lines.join(' '))}${unknown}`;
}
