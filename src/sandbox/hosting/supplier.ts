/** What the supplier behind the service says to an order (docs/hosting-api.md 3, rules 2 and 3). */
export type Supplier =
  | { readonly says: 'yes' }
  | { readonly says: 'no' }
  | { readonly says: 'nothing'; readonly completes: boolean; readonly afterMs: number };
