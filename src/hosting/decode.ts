import type { Endpoint, WireAnswer } from './endpoint.ts';
import { NOT_JSON, parseJson } from './json.ts';
import { makeError, readError } from './refusals.ts';
import { sealText } from './seal.ts';
import { Unclear, withoutEchoes } from './verdict.ts';

/** Called with the number of parts that were left out because they could not be read. */
export type OnUnreadable = (count: number) => void;

/**
 * Turns an answer into its meaning. Any 2xx is success (docs/hosting-api.md 4 shows no status codes), if it can be read
 * and nothing in it says otherwise. The answer's own text never gets into an error's details, since a body may hold a
 * root password; the answer to a create is passed on sealed (`sealedAnswer`).
 * @throws HostingError any code of the document, `unknown_code`, `unreadable_answer`; its `status` is always set
 */
export function decode<Answer>(
  endpoint: Endpoint<Answer>,
  answer: WireAnswer,
  onUnreadable: OnUnreadable,
): Answer {
  const { status } = answer;
  const body = parseJson(answer.text);
  const sealed = endpoint.mayHoldSecret ? sealText(answer.raw ?? answer.text) : undefined;
  if (status < 200 || status > 299) {
    const isSecret =
      answer.text.includes('root_password') || /pass|pw/i.test(withoutEchoes(answer.text, endpoint.body));
    throw readError(endpoint, answer, body === NOT_JSON ? undefined : body, isSecret ? sealed : undefined);
  }
  if (body === NOT_JSON)
    throw makeError(endpoint, 'unreadable_answer', { status, problem: 'not_json' }, sealed);
  try {
    return endpoint.read({ ...answer, body, onUnreadable });
  } catch (error) {
    if (!(error instanceof Unclear)) throw error;
    const { problem, apiCode } = error;
    const details = { status, problem, ...(apiCode && { apiCode }) };
    throw makeError(endpoint, 'unreadable_answer', details, sealed);
  }
}
