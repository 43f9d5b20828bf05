import { Agent, request } from 'undici';
import type { Secret } from '../../domain/secret.ts';
import type { System } from '../../system.ts';
import { type Answer, type Page, readAnswer, readFailure, type Unanswered } from './answers.ts';

/** Slack's Web API, one call at a time. */
export interface WebApi {
  /** Waits when Slack limits the method, and tries again. `progress` says how far the caller is. */
  call(method: string, args: Readonly<Record<string, unknown>>, progress?: string): Promise<Answer>;
  /** Gets a page of the app's own. */
  get(url: string): Promise<Page | Unanswered>;
  close(): Promise<void>;
}

/** Slack asks for a minute at most; what wants more is reported instead. */
const LONGEST_PAUSE_SECONDS = 120;
const USUAL_PAUSE_SECONDS = 30;
const MOST_PAUSES = 10;

/** Goes to Slack directly, as the app does: it takes no proxy from the environment. */
export function createWebApi(options: {
  readonly apiUrl: string;
  readonly token: Secret<string>;
  readonly timeoutSeconds: number;
  readonly system: Pick<System, 'sleep'>;
  tell(words: string): void;
}): WebApi {
  const { apiUrl, token, timeoutSeconds, system, tell } = options;
  const send = createSender(timeoutSeconds);
  const post = (method: string, args: Readonly<Record<string, unknown>>) =>
    send.request(`${apiUrl}${method}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.reveal()}`, 'content-type': FORM },
      body: toForm(args),
    });
  return {
    call: async (method, args, progress = '') => {
      for (let pauses = 0; ; pauses += 1) {
        const response = await post(method, args);
        if ('kind' in response) return response;
        const answer = readAnswer(response);
        if (!isLimited(response, answer)) return answer;
        const seconds = response.retryAfterSeconds ?? USUAL_PAUSE_SECONDS;
        if (seconds > LONGEST_PAUSE_SECONDS || pauses >= MOST_PAUSES)
          return { kind: 'unanswered', why: 'rate_limited', number: seconds };
        tell(`Slack limits ${method}: waiting ${seconds} s${progress && `, ${progress}`}.`);
        await system.sleep(seconds * 1000);
      }
    },
    get: (url) => send.request(url, { method: 'GET' }),
    close: send.close,
  };
}

function isLimited({ status }: Page, answer: Answer): boolean {
  return status === 429 || (answer.kind === 'refused' && /^rate_?limited$/.test(answer.code));
}

const FORM = 'application/x-www-form-urlencoded';

interface Response extends Page {
  readonly retryAfterSeconds: number | undefined;
}

/** Follows no redirect: Slack sends none, and the token must not go elsewhere. */
function createSender(timeoutSeconds: number) {
  const timeout = timeoutSeconds * 1000;
  const agent = new Agent({
    connect: { timeout },
    headersTimeout: timeout,
    bodyTimeout: timeout,
    maxResponseSize: 32 * 1024 * 1024,
  });
  return {
    request: async (
      url: string,
      what: { method: 'GET' | 'POST'; headers?: Record<string, string>; body?: string },
    ): Promise<Response | Unanswered> => {
      try {
        const { statusCode, headers, body } = await request(url, { ...what, dispatcher: agent });
        return {
          status: statusCode,
          text: await body.text(),
          scopes: textOf(headers['x-oauth-scopes']),
          retryAfterSeconds: readSeconds(textOf(headers['retry-after'])),
        };
      } catch (error) {
        return { kind: 'unanswered', why: readFailure(error), number: timeoutSeconds };
      }
    },
    close: () => agent.destroy(),
  };
}

/** As Slack's own library sends arguments: some methods read no JSON. */
function toForm(args: Readonly<Record<string, unknown>>): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(args))
    form.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  return form.toString();
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header;
}

function readSeconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,6}$/.test(text.trim()) ? Number(text) : undefined;
}
