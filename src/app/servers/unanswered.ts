import { HostingError } from '../../domain/errors.ts';

const CODES = ['no_answer', 'unreadable_answer', 'unknown_code', 'checking'] as const;

/** Why an answer does not say whether the work was done. */
export type UnansweredCode = (typeof CODES)[number];

/** Reads the code of a failure that does not say whether the work was done; undefined for every other error. */
export function findUnanswered(error: unknown): UnansweredCode | undefined {
  return error instanceof HostingError ? CODES.find((code) => code === error.code) : undefined;
}
