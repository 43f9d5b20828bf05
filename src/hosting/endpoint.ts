import type { PagingHeaders } from './server-list.ts';

/** An HTTP answer before it is decoded. */
export interface WireAnswer {
  readonly status: number;
  readonly retryAfter?: string;
  readonly text: string;
  /** The answer with every byte as one character; present if it was not UTF-8, so that `text` is damaged. */
  readonly raw?: string;
  readonly paging?: PagingHeaders;
}

/** A 2xx answer whose text is JSON, or empty. */
export interface ReadableAnswer extends WireAnswer {
  /** Undefined when the answer was empty. */
  readonly body: unknown;
  /** Called with the number of parts that were left out because they could not be read. */
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
  /** Its answer may hold a root password, so an unreadable one is kept in a `Secret`. */
  readonly mayHoldSecret?: true;
  /** Reads a 2xx answer. @throws Unclear when it can't be read, or contradicts itself */
  readonly read: (answer: ReadableAnswer) => Answer;
}
