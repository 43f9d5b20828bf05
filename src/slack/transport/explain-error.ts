import { describeDefect, isExpected } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import { wordsOfError } from '../words.ts';

/**
 * Puts an error into words. A defect gets an incident ID, in the log and in the words; its own message is kept out of both,
 * since it may repeat what a user typed or what an answer held.
 */
export function explainError(
  error: unknown,
  { system, log, currency }: { readonly system: System; readonly log: Log; readonly currency: string },
): string {
  if (isExpected(error)) return wordsOfError(error, currency);
  const incident = system.newId().slice(-8);
  log.error('a request met a defect', { incident, ...describeDefect(error) });
  return `Something went wrong (incident \`${incident}\`). Your admin can find it in the log.`;
}
