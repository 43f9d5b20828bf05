import type { Endpoint } from './endpoints.ts';
import { makeError, readError } from './errors.ts';
import type { WireAnswer } from './send.ts';
import type { OnUnreadable } from './wire.ts';

/**
 * Turns an answer into what it means. Any 2xx is success (API document, section 4: the codes are not shown), if it
 * can be read. The answer's own text gets into no error: a body may hold a root password.
 * @throws HostingError any code of the document, `unknown_code`, `unreadable_answer`
 */
export function decode<Answer>(
  endpoint: Endpoint<Answer>,
  answer: WireAnswer,
  onUnreadable: OnUnreadable,
): Answer {
  const { status } = answer;
  const body = parseBody(answer.text);
  if (status < 200 || status > 299) throw readError(endpoint, answer, body);
  const value = body === NOT_JSON ? undefined : endpoint.read(body, onUnreadable);
  if (value === undefined) throw makeError(endpoint, 'unreadable_answer', { status });
  return value;
}

const NOT_JSON = Symbol('not JSON');

/** Undefined when there was no body. */
function parseBody(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return NOT_JSON;
  }
}
