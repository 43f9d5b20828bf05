import type { KnownBlock } from '@slack/types';
import type { BudgetState } from '../../app/purchases/budget.ts';
import type { Terms } from '../../app/purchases/review-purchase.ts';
import { describeMoney } from '../../domain/money.ts';
import { alert, context } from '../kit/blocks.ts';
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

const APPROVAL_WORDS =
  'Another manager has to approve this: you confirm it, and nothing is paid before they have said yes.';

function overBlocks({ isOverBudget, takesApproval }: Terms): KnownBlock[] {
  if (!isOverBudget) return [];
  const then = takesApproval
    ? 'Another manager has to approve it; nothing is paid before that.'
    : 'It will be refused. An owner can change the budget with `/vps settings`.';
  return [alert(`This goes over the budget of this month. ${then}`)];
}

function budgetWords({ budget, spent }: BudgetState, isPriceKnown: boolean, currency: string): string {
  const line = (whose: 'workspace' | 'person', who: string) => {
    const most = budget[whose];
    if (most === undefined) return [];
    return [
      `*${describeMoney(spent[whose], '')} of ${describeMoney(most, currency)}* spent here this month${who}`,
    ];
  };
  const lines = [
    ...line('workspace', budget.person === undefined ? '' : ' by everybody'),
    ...line('person', ' by you'),
  ];
  const unknown = isPriceKnown
    ? ''
    : ' This renewal has no price that is known here, so it will not be counted.';
  return `${escapeText(lines.join('; '))}. Only what was paid with this app counts, in months of UTC.${unknown}`;
}
