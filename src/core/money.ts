/** A whole number of hundredths of the account's currency, which the API does not name (docs/hosting-api.md 2.10). */
export type Money = number & { readonly unit: 'hundredths' };

/** Makes an amount from a number of hundredths, rounded to a whole one. */
export function money(hundredths: number): Money {
  return Math.round(hundredths) as Money;
}

/** Reads a decimal amount such as `4.99`; undefined if it is anything else. `1.500` may mean 1500, so a third decimal is refused. */
export function findMoney(text: string): Money | undefined {
  const match = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(text.trim());
  if (!match) return undefined;
  return money(Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0')));
}

/** Describes an amount, which must not be negative: "5.90", or "5.90 EUR" with a currency. */
export function describeMoney(amount: Money, currency = ''): string {
  const decimal = `${Math.trunc(amount / 100)}.${String(Math.abs(amount % 100)).padStart(2, '0')}`;
  return currency ? `${decimal} ${currency}` : decimal;
}

/** Describes a monthly price: "5.90/month", or "5.90 EUR/month" with a currency. */
export function describeMonthly(price: Money, currency = ''): string {
  return `${describeMoney(price, currency)}/month`;
}
