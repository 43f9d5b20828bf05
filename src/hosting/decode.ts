import type { ApiCode } from '../domain/errors.ts';
import type { Steps } from '../domain/steps.ts';
import { findContradiction } from './contradiction.ts';
import type { Endpoint, WireAnswer } from './endpoint.ts';
import { makeError, readError } from './errors.ts';
import { NOT_JSON, parseJson } from './json.ts';
import { namesPassword } from './read-record.ts';
import { sealText } from './seal.ts';

/** Receiving, parsing and reading more than this are steps of their own. */
const LONG = 100_000;

/** Called with the number of parts that were left out because they could not be read. */
export type OnUnreadable = (count: number) => void;

/**
 * Turns an answer into its meaning. Any 2xx is success (docs/hosting-api.md 4 shows no status codes), if it can be read
 * and carries no error. The answer's own text never gets into an error's details, since a body may hold a root
 * password; the answer to a create is passed on sealed (`sealedAnswer`).
 * In steps, since a list of thousands of servers would hold up other users.
 * @throws HostingError any code of the document, `unknown_code`, `unreadable_answer`; its `status` is always set
 */
export function* decode<Answer>(
  endpoint: Endpoint<Answer>,
  answer: WireAnswer,
  onUnreadable: OnUnreadable,
): Steps<Answer> {
  const { status } = answer;
  const isLong = answer.text.length > LONG;
  if (isLong) yield;
  const body = yield* parseJson(answer.text);
  if (isLong) yield;
  const sealed = endpoint.mayHoldSecret ? sealText(answer.raw ?? answer.text) : undefined;
  if (status < 200 || status > 299) {
    const isSecret = namesPassword(body);
    throw readError(endpoint, answer, body === NOT_JSON ? undefined : body, isSecret ? sealed : undefined);
  }
  const fail = (problem: 'not_json' | 'carries_error' | 'unexpected', apiCode?: ApiCode) =>
    makeError(endpoint, 'unreadable_answer', { status, problem, ...(apiCode && { apiCode }) }, sealed);
  if (body === NOT_JSON) throw fail('not_json');
  const contradiction = findContradiction(endpoint, body);
  if (contradiction) throw fail('carries_error', contradiction.code);
  const value = endpoint.read({ ...answer, body, sealed, onUnreadable });
  if (value === undefined) throw fail('unexpected');
  return value;
}
