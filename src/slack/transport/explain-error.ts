import { describeDefect, isExpected } from '../../domain/errors.ts';
import { wordsOfError } from '../words.ts';
import type { Workbench } from './request.ts';

/**
 * Puts an error into words for people. A defect gets an incident id, in the log and in the words;
 * its message is kept out of both, since it may repeat what somebody typed or an answer held.
 */
export function explain(error: unknown, { services, currency }: Workbench): string {
  if (isExpected(error)) return wordsOfError(error, currency);
  const incident = services.system.newId().slice(-8);
  services.log.error('a request met a defect', { incident, ...describeDefect(error) });
  return `Something went wrong that should not have (incident \`${incident}\`). Nothing more was done; the operator finds it in the log.`;
}
