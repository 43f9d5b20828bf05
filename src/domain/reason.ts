/**
 * Why something ended as it did: a code and its details. `Details` maps each code to the shape of its details, so the codes
 * are a closed union, and code that handles a reason has to handle every code.
 */
export type Reason<Details, Code extends keyof Details = keyof Details> = {
  [Each in Code]: { readonly code: Each; readonly details: Details[Each] };
}[Code];

/** Words for every code: a code without words does not compile. */
export type ReasonWords<Details, Rest extends readonly unknown[] = []> = {
  readonly [Code in keyof Details]: (details: Details[Code], ...rest: Rest) => string;
};

/** Puts a reason into words. */
export function describeReason<Details, Code extends keyof Details, Rest extends readonly unknown[]>(
  words: ReasonWords<Details, Rest>,
  { code, details }: Reason<Details, Code>,
  ...rest: Rest
): string {
  return words[code](details, ...rest);
}
