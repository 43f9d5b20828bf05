import type { Json, Texts } from './page-api.ts';

/** The local Slack does not let a user do this, as the real client would not. */
export class SlackRefusal extends Error {
  override readonly name = 'SlackRefusal';
  readonly code: string;
  /** For the user; the error's message also has the code, for the output of tests. */
  readonly words: string;
  /** By block_id, with `invalid_input`. */
  readonly errors: Texts | undefined;

  constructor(code: string, words: string, errors?: Texts) {
    super(`${words} (${code})`);
    this.code = code;
    this.words = words;
    this.errors = errors;
  }
}

/** The Web API, or a response_url, refuses this to the app. */
export class WebApiError extends Error {
  override readonly name = 'WebApiError';
  readonly code: string;
  readonly more: Json;

  constructor(code: string, more: Json = {}) {
    super(code);
    this.code = code;
    this.more = more;
  }
}
