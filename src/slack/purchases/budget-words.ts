import type { RefusalDetails } from '../../domain/errors.ts';
import { describeMoney } from '../../domain/money.ts';
import { escapeText } from '../kit/text.ts';

/** Whose budget an order would exceed, and by what it costs. */
export function budgetWords(
  { whose, spent, most, price }: RefusalDetails['over_budget'],
  currency: string,
): string {
  const owner = whose === 'person' ? 'your' : 'the workspace’s';
  const used = `${escapeText(describeMoney(spent))} of ${escapeText(describeMoney(most, currency))} is spent`;
  const cost =
    price === undefined
      ? 'we don’t know the price of this order'
      : `this order costs ${escapeText(describeMoney(price, currency))}`;
  return `This exceeds ${owner} monthly budget: ${used}, and ${cost}.`;
}
