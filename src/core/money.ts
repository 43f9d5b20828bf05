/** An amount in hundredths of the account's currency, which the API does not name (docs/hosting-api.md 2.10). */
export type Money = number & { readonly unit: 'hundredths' };

/** Makes an amount from hundredths. */
export function money(hundredths: number): Money {
  return Math.round(hundredths) as Money;
}

/**
 * Reads a decimal amount such as `4.99`; undefined when it is not one.
 * More than two decimals are refused rather than rounded: a price is paid exactly or not at all.
 */
export function findMoney(text: string): Money | undefined {
  const match = /^(\d{1,12})(?:\.(\d{1,2})0*)?$/.exec(text.trim());
  if (!match) return undefined;
  return money(Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0')));
}

/**
 * Reads a currency such as EUR, € or credits; undefined when it can't stand after an amount. Codes of three letters are
 * written in capitals.
 */
export function findCurrency(text: string): string | undefined {
  const typed = text.trim();
  if (!/^[\p{L}\p{M}\p{Sc}]{1,12}$/u.test(typed)) return undefined;
  return /^[a-z]{3}$/i.test(typed) ? typed.toUpperCase() : typed;
}

/** Writes an amount with two decimals, and the currency after it when the operator has named one. */
export function describeMoney(amount: Money, currency = ''): string {
  const decimal = `${Math.trunc(amount / 100)}.${String(Math.abs(amount % 100)).padStart(2, '0')}`;
  return currency ? `${decimal} ${currency}` : decimal;
}

/** Writes a monthly price: "5.90/month", "5.90 EUR/month". */
export function describeMonthly(price: Money, currency = ''): string {
  return `${describeMoney(price, currency)}/month`;
}
