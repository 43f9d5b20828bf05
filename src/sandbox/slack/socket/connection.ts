import type { WebSocket } from 'ws';
import { isJson, readJson, textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import type { Envelope } from './envelope.ts';

/** What the app acknowledged with; undefined: it did not in time, or the connection has closed. */
export type Acknowledgment = { readonly payload: Json } | undefined;

type Settle = (acknowledgment: Acknowledgment) => void;

/** Slack's servers ping as often. */
const PING_MS = 10_000;

/** One WebSocket of the app, as Slack sees it. */
export class AppConnection {
  readonly #socket: WebSocket;
  readonly #breakRule: (rule: string, words: string) => void;
  readonly #waiting = new Map<string, Settle[]>();
  readonly #known = new Map<string, Envelope>();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(socket: WebSocket, breakRule: (rule: string, words: string) => void, onClose: () => void) {
    this.#socket = socket;
    this.#breakRule = breakRule;
    const pings = setInterval(() => socket.ping(), PING_MS);
    this.#timers.add(pings.unref());
    socket.on('message', (message, isBinary) => this.#read(isBinary ? '' : String(message)));
    // Without a listener, a connection that breaks would end the process.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const timer of this.#timers) clearInterval(timer);
      for (const settle of [...this.#waiting.values()].flat()) settle(undefined);
      onClose();
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  say(message: Json): void {
    this.sendRaw(JSON.stringify(message));
  }

  sendRaw(text: string): void {
    this.#socket.send(text);
  }

  /** Sends an envelope, and resolves when it is acknowledged or the signal fires. */
  deliver(envelope: Envelope, signal: AbortSignal): Promise<Acknowledgment> {
    const { envelope_id: id } = envelope;
    this.#known.set(id, envelope);
    return new Promise((resolve) => {
      const settle: Settle = (acknowledgment) => {
        const others = (this.#waiting.get(id) ?? []).filter((each) => each !== settle);
        this.#waiting.set(id, others);
        resolve(acknowledgment);
      };
      this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), settle]);
      signal.addEventListener('abort', () => settle(undefined), { once: true });
      this.#socket.send(JSON.stringify(envelope));
    });
  }

  /** Announces the end, and closes after this delay, in real milliseconds. */
  disconnect(reason: string, closeAfterMs: number): void {
    this.say({ type: 'disconnect', reason, debug_info: { host: 'applink-1' } });
    this.#timers.add(setTimeout(() => this.#socket.close(), closeAfterMs).unref());
  }

  /** The network in between is gone: nothing gets through, and neither side notices. */
  deafen(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#socket.pause();
  }

  /** Breaks the connection without a word. */
  drop(): void {
    this.#socket.resume();
    this.#socket.terminate();
  }

  #read(text: string): void {
    const message = readJson(text);
    const id = textIn(message, 'envelope_id');
    const envelope = this.#known.get(id);
    if (!isJson(message) || !envelope) {
      this.#breakRule('bad_ack', 'no acknowledgment of an envelope');
      return;
    }
    const settle = this.#waiting.get(id)?.[0];
    // One that comes too late has been reported then.
    if (!settle) return;
    const payload = isJson(message.payload) ? message.payload : {};
    const isEmpty = Object.keys(payload).length === 0;
    if (!envelope.accepts_response_payload && !isEmpty)
      this.#breakRule('bad_ack', `${envelope.type}: this acknowledgment must have no payload`);
    settle({ payload });
  }
}
