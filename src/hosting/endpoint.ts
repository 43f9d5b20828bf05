import type { Secret } from '../domain/secret.ts';
import type { PagingHeaders } from './paging.ts';

/** What came back, before anything is made of it. */
export interface WireAnswer {
  readonly status: number;
  readonly retryAfter?: string;
  readonly text: string;
  /** Every byte as one character, where the answer was not UTF-8 and `text` is damaged. */
  readonly raw?: string;
  readonly paging?: PagingHeaders;
}

/** A 2xx answer whose text is JSON, or empty. */
export interface ReadableAnswer extends WireAnswer {
  /** Undefined when the answer was empty. */
  readonly body: unknown;
  /** The whole answer, of an endpoint whose answers may hold a secret. */
  readonly sealed: Secret<string> | undefined;
  /** Told how many parts of it were left out because they could not be read. */
  readonly onUnreadable: (count: number) => void;
}

/** One endpoint (docs/hosting-api.md 4) with its arguments filled in. */
export interface Endpoint<Answer> {
  /** Its name in logs and metrics. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: Readonly<Record<string, string>>;
  /** Money effect: an answer that proves nothing leaves open whether it was paid. */
  readonly isPaid: boolean;
  /** Its answer may hold a root password: one that can't be read is kept, sealed. */
  readonly mayHoldSecret?: true;
  /** Reads a 2xx answer; undefined when it can't be read. */
  readonly read: (answer: ReadableAnswer) => Answer | undefined;
}

export interface Created {
  readonly id: number;
  readonly state: string;
  readonly rootPassword?: Secret<string>;
  /** The answer itself, where no password was recognized in it though it holds more than an id and a state. */
  readonly sealedAnswer?: Secret<string>;
}
