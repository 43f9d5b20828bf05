import { DatabaseUnreachable } from '../../domain/database-unreachable.ts';
import { describeDefect, isExpected } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import { wordsOfError, wordsOfUnreachable } from '../words.ts';

export interface ExplainParts {
  readonly system: System;
  readonly log: Log;
}

interface Explaining extends ExplainParts {
  readonly currency: string;
  /** Whether the request may have done something before the error; absent where that is not known. */
  readonly hasBegun?: boolean | undefined;
}

/**
 * Puts an error into words. A defect gets an incident ID, in the log and in the words; its own message is kept out of both,
 * since it may repeat what a user typed or what an answer held.
 */
export function explainError(error: unknown, { system, log, currency, hasBegun }: Explaining): string {
  if (isExpected(error)) return wordsOfError(error, currency);
  if (error instanceof DatabaseUnreachable) {
    log.error('a request met a database that can’t be reached', { cause: error.reason });
    return wordsOfUnreachable(hasBegun);
  }
  const incident = system.newId().slice(-8);
  log.error('a request met a defect', { incident, ...describeDefect(error) });
  return `Something went wrong (incident \`${incident}\`). Your admin can find it in the log.`;
}
