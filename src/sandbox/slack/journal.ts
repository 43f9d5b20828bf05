import type { StoredMessage } from './messages.ts';
import type { BrokenRule, TrafficEntry } from './page-api.ts';
import type { SlackClock } from './world.ts';

/** What happens in the workspace, as it happens. */
export type SlackEvent =
  | { readonly type: 'message' | 'message_changed' | 'message_deleted'; readonly message: StoredMessage }
  | { readonly type: 'views' | 'home' | 'reload'; readonly user: string }
  /** Users or channels changed: pages read the whole state again. */
  | { readonly type: 'workspace' }
  /** What the page shows beside the chat has changed. */
  | { readonly type: 'panel' }
  | { readonly type: 'traffic'; readonly entry: TrafficEntry }
  | { readonly type: 'broken_rule'; readonly rule: BrokenRule };

/** The most requests that are stored; a sandbox may run for days. */
const MAX_STORED = 5000;

export type SlackListener = (event: SlackEvent) => void;

/** The record of everything: events for listeners, requests, broken rules. */
export class Journal {
  readonly #clock: SlackClock;
  readonly #listeners = new Set<SlackListener>();
  readonly #traffic: TrafficEntry[] = [];
  readonly #brokenRules: BrokenRule[] = [];
  readonly #secrets = new Set<string>();
  #recorded = 0;

  constructor(clock: SlackClock) {
    this.#clock = clock;
  }

  /** Calls the listener on every event from now on; the returned function ends that. */
  onEvent(listener: SlackListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: SlackEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  /** From now on this text is masked in everything recorded. */
  hideSecret(secret: string): void {
    if (secret.length > 0) this.#secrets.add(secret);
  }

  mask(text: string): string {
    let masked = maskPreformatted(text).replace(RESPONSE_URL_SECRET, '$1[masked]');
    for (const secret of this.#secrets) masked = masked.replaceAll(secret, '[masked]');
    return masked;
  }

  record(entry: Omit<TrafficEntry, 'id'>): void {
    const { what, request, response } = entry;
    this.#recorded += 1;
    const masked = {
      ...entry,
      id: this.#recorded,
      what: this.mask(what),
      request: this.mask(request),
      response: this.mask(response),
    };
    this.#traffic.push(masked);
    if (this.#traffic.length > MAX_STORED) this.#traffic.shift();
    this.emit({ type: 'traffic', entry: masked });
  }

  breakRule(rule: string, words: string): void {
    const broken = { at: this.#clock.now(), rule, words: this.mask(words) };
    this.#brokenRules.push(broken);
    this.emit({ type: 'broken_rule', rule: broken });
  }

  traffic(): readonly TrafficEntry[] {
    return this.#traffic;
  }

  brokenRules(): readonly BrokenRule[] {
    return this.#brokenRules;
  }
}

/** The last part of `/reply/<team>/<number>/<secret>`, percent-encoded or not. */
const RESPONSE_URL_SECRET = /((?:\/|%2F)reply(?:\/|%2F)\w+(?:\/|%2F)\w+(?:\/|%2F))\w+/g;

/**
 * Apps show secrets to one user in preformatted text, but every user of the sandbox sees the traffic.
 * A form is decoded first, since its fields can't be recognized while they are encoded.
 */
function maskPreformatted(text: string): string {
  if (!text.includes('rich_text_preformatted')) return text;
  const isJson = text.trimStart().startsWith('{');
  const written = isJson ? text : [...new URLSearchParams(text)].map((pair) => pair.join('=')).join('&');
  return written.replace(PREFORMATTED_TEXT, '$1[masked]"');
}

const PREFORMATTED_TEXT = /("rich_text_preformatted"[^}]*?"text":")(?:[^"\\]|\\.)*"/g;
