/** Reasons that tests of the ledger use. */
export const NO_ANSWER = { code: 'no_answer', details: {} } as const;
export const ACCOUNT_CHANGED = { code: 'account_changed', details: {} } as const;
export const LIMIT = { code: 'limit', details: {} } as const;
export const NOT_DONE = { code: 'decided_not_done', details: {} } as const;
