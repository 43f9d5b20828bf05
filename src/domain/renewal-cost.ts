import { type Money, money } from './money.ts';

/** What renewing all of them costs, as far as that is known; those whose price is not known are named, never guessed. */
export function sumCost<Priced extends { readonly price?: Money }>(
  servers: readonly Priced[],
): { readonly known: Money; readonly unknown: readonly Priced[] } {
  return {
    known: money(servers.reduce((sum, { price = 0 }) => sum + price, 0)),
    unknown: servers.filter(({ price }) => price === undefined),
  };
}
