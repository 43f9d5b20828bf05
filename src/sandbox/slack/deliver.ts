import { createHmac, randomUUID } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import type { Journal } from './journal.ts';
import { readJson } from './json.ts';
import type { Texts } from './page-api.ts';
import type { SocketConnections } from './sockets.ts';
import type { InstalledApp, SlackClock } from './world.ts';

/** One signed request to the app, or one envelope, and its result. */
export interface Delivery {
  /** "command /vps list", "block_actions" … */
  readonly what: string;
  /** What was posted, or would have been. */
  readonly body: string;
  readonly headers: Texts;
  /** In Socket Mode: what was sent instead. */
  readonly envelope?: Envelope;
  /** null: no answer within the time for an ack, or no connection. */
  readonly status: number | null;
  readonly response: string;
  readonly responseHeaders: Readonly<Record<string, string | string[] | undefined>>;
  readonly tookMs: number;
}

type Answer = Pick<Delivery, 'status' | 'response' | 'responseHeaders'>;

export type DeliveryKind = 'form' | 'json';

/** The `response` of a delivery that was not answered in time. */
export const NO_ANSWER = 'no answer in time';

/** The `response` where an app in Socket Mode has no WebSocket open. */
const NO_CONNECTION = 'the app has no WebSocket open';

/** The most deliveries that are stored; a sandbox may run for days. */
const MAX_STORED = 5000;

/** Sends signed requests, or envelopes, to the app and records them. */
export class Deliverer {
  readonly #app: InstalledApp;
  readonly #sockets: SocketConnections;
  readonly #clock: SlackClock;
  readonly #journal: Journal;
  readonly #deliveries: Delivery[] = [];
  readonly #open = new Set<AbortController>();

  constructor(app: InstalledApp, sockets: SocketConnections, clock: SlackClock, journal: Journal) {
    this.#app = app;
    this.#sockets = sockets;
    this.#clock = clock;
    this.#journal = journal;
  }

  /** Signs with the real time, since the app's receiver compares with its own wall clock. Socket Mode signs nothing. */
  send(what: string, kind: DeliveryKind, body: string, more: Texts = {}): Promise<Delivery> {
    if (this.#app.isSocketMode) return this.#sendEnvelope(what, body, envelopeOf(kind, body, more));
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = signBody(this.#app.signingSecret, timestamp, body);
    return this.sendRaw(what, body, {
      'content-type': CONTENT_TYPES[kind],
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': signature,
      ...more,
    });
  }

  sendAgain({ what, body, headers, envelope }: Delivery): Promise<Delivery> {
    const again = `${what} (again)`;
    return envelope ? this.#sendEnvelope(again, body, envelope) : this.sendRaw(again, body, headers);
  }

  /** Posts a body under headers of the caller's making. */
  sendRaw(what: string, body: string, headers: Texts): Promise<Delivery> {
    return this.#record({ what, body, headers }, body, (signal) =>
      exchange(this.#app.commandsUrl, body, headers, signal),
    );
  }

  #sendEnvelope(what: string, body: string, envelope: Envelope): Promise<Delivery> {
    return this.#record({ what, body, headers: {}, envelope }, JSON.stringify(envelope), async (signal) => {
      const sent = this.#sockets.deliver(envelope, signal);
      if (!sent) return { status: null, response: NO_CONNECTION, responseHeaders: {} };
      const acknowledgment = await sent;
      if (!acknowledgment) return { status: null, response: NO_ANSWER, responseHeaders: {} };
      const { payload } = acknowledgment;
      const isEmpty = Object.keys(payload).length === 0;
      return { status: 200, response: isEmpty ? '' : JSON.stringify(payload), responseHeaders: {} };
    });
  }

  list(): readonly Delivery[] {
    return this.#deliveries;
  }

  abort(): void {
    for (const controller of this.#open) controller.abort();
  }

  async #record(
    sent: Pick<Delivery, 'what' | 'body' | 'headers' | 'envelope'>,
    request: string,
    run: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Delivery> {
    const at = this.#clock.now();
    const startedMs = performance.now();
    const { responseHeaders, ...answer } = await this.#runInTime(run);
    const tookMs = Math.round(performance.now() - startedMs);
    const delivery = { ...sent, ...answer, responseHeaders, tookMs };
    this.#deliveries.push(delivery);
    if (this.#deliveries.length > MAX_STORED) this.#deliveries.shift();
    this.#journal.record({ at, tookMs, from: 'slack', what: sent.what, request, ...answer });
    return delivery;
  }

  async #runInTime(run: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), this.#app.ackTimeoutMs);
    this.#open.add(controller);
    try {
      return await run(controller.signal);
    } catch (error) {
      const reason = controller.signal.aborted ? NO_ANSWER : String(error);
      return { status: null, response: reason, responseHeaders: {} };
    } finally {
      clearTimeout(timer);
      this.#open.delete(controller);
    }
  }
}

/** Bolt refuses the form type with a charset behind it, and Slack sends none. */
const CONTENT_TYPES = { form: 'application/x-www-form-urlencoded', json: 'application/json' } as const;

function exchange(url: string, body: string, headers: Texts, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = String(Buffer.byteLength(body));
    const options = {
      method: 'POST',
      agent: false,
      signal,
      headers: { ...headers, 'content-length': length, 'user-agent': 'Slackbot 1.0 (local)' },
    };
    const outgoing = request(url, options, (incoming: IncomingMessage) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          response: Buffer.concat(chunks).toString('utf8'),
          responseHeaders: incoming.headers,
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Signs a request body as Slack does: v0, HMAC-SHA256 over `v0:seconds:body` (Slack's "Verifying requests" page). */
export function signBody(signingSecret: string, timestampSeconds: number | string, body: string): string {
  return `v0=${createHmac('sha256', signingSecret).update(`v0:${timestampSeconds}:${body}`).digest('hex')}`;
}

/** What Slack sends over a WebSocket: a payload, and what it takes to acknowledge it (Slack's "Using Socket Mode" page). */
export interface Envelope {
  readonly envelope_id: string;
  readonly type: 'slash_commands' | 'interactive' | 'events_api';
  /** False: the acknowledgment must have no payload. */
  readonly accepts_response_payload: boolean;
  /** An object, unless a test makes up something else. */
  readonly payload: unknown;
  readonly retry_attempt?: number;
  readonly retry_reason?: string;
}

/** Puts what would be posted over HTTP into an envelope; `headers`: what an event that comes again says of itself. */
function envelopeOf(kind: DeliveryKind, body: string, headers: Texts): Envelope {
  const envelope_id = randomUUID();
  if (kind === 'json') {
    const retry_attempt = Number(headers['x-slack-retry-num'] ?? 0);
    const retry_reason = (headers['x-slack-retry-reason'] ?? '').replace(/^http_/, '');
    const event = { type: 'events_api', accepts_response_payload: false, payload: contentOf(body) } as const;
    return { envelope_id, ...event, retry_attempt, retry_reason };
  }
  const fields = Object.fromEntries(new URLSearchParams(body));
  const accepted = { envelope_id, accepts_response_payload: true };
  return fields.payload === undefined
    ? { ...accepted, type: 'slash_commands', payload: fields }
    : { ...accepted, type: 'interactive', payload: contentOf(fields.payload) };
}

function contentOf(text: string): unknown {
  return readJson(text) ?? (text.trim() === 'null' ? null : text);
}
