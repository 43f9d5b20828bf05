import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Envelope } from './deliver.ts';
import type { Journal } from './journal.ts';
import { isJson, readJson, textIn } from './json.ts';
import type { Json } from './page-api.ts';
import { APP } from './workspace.ts';
import type { Ids, InstalledApp, SlackClock } from './world.ts';

/** As many WebSockets of one app as Slack takes (Slack's "Using Socket Mode" page). */
const MOST_CONNECTIONS = 10;
/** How long an address from `apps.connections.open` can be used; a guess. */
const TICKET_MS = 30_000;
/** Slack warns about as long before it closes a connection. */
const WARNING_MS = 10_000;

/** The app's WebSockets: Socket Mode. */
export class SocketConnections {
  readonly #open: AppConnection[] = [];
  readonly #tickets = new Map<string, number>();
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #clock: SlackClock;
  readonly #ids: Ids;
  readonly #journal: Journal;
  readonly #app: InstalledApp;
  #next = 0;
  /** False: new connections are not greeted. */
  isGreeting = true;

  constructor(app: InstalledApp, clock: SlackClock, ids: Ids, journal: Journal) {
    this.#app = app;
    this.#clock = clock;
    this.#ids = ids;
    this.#journal = journal;
  }

  /** How many WebSockets Slack takes to be open, one that is deaf included. */
  get count(): number {
    return this.#open.length;
  }

  createPath(): string {
    const ticket = this.#ids.secret();
    this.#journal.hideSecret(ticket);
    this.#tickets.set(ticket, this.#clock.now() + TICKET_MS);
    return `/link/?ticket=${ticket}&app_id=${APP.id}`;
  }

  /** Takes an upgrade of the HTTP server; any other than with a fresh ticket is refused. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    const [path, query] = (incoming.url ?? '').split('?');
    const ticket = new URLSearchParams(query).get('ticket') ?? '';
    const expiresAt = this.#tickets.get(ticket);
    this.#tickets.delete(ticket);
    if (path !== '/link/' || expiresAt === undefined || expiresAt < this.#clock.now()) {
      socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n');
      return;
    }
    this.#server.handleUpgrade(incoming, socket, head, (opened) => this.#welcome(opened));
  }

  /** Sends an envelope over one of the connections, each in turn; undefined: there is none. */
  deliver(envelope: Envelope, signal: AbortSignal): Promise<Acknowledgment> | undefined {
    const usable = this.#open.filter(({ isOpen }) => isOpen);
    this.#next += 1;
    return usable[this.#next % usable.length]?.deliver(envelope, signal);
  }

  /** Slack's routine: it announces the end of all connections, which it closes later. */
  refresh({ reason = 'warning', closeAfterMs = WARNING_MS } = {}): void {
    for (const connection of this.#open) connection.disconnect(reason, closeAfterMs);
  }

  /** Sends what Slack would never send. */
  sendRaw(text: string): void {
    for (const connection of this.#open) connection.sendRaw(text);
  }

  /** The connections break without a word. */
  drop(): void {
    for (const connection of [...this.#open]) connection.drop();
  }

  /** The network swallows everything from now on, and Slack goes on sending there until `drop`. */
  deafen(): void {
    for (const connection of this.#open) connection.deafen();
  }

  /** An admin turns Socket Mode off in the app's settings. */
  disable(): void {
    this.#app.isSocketMode = false;
    this.refresh({ reason: 'link_disabled', closeAfterMs: 0 });
  }

  #welcome(socket: WebSocket): void {
    const refusal = this.#findRefusal();
    const connection: AppConnection = new AppConnection(
      socket,
      (rule, words) => this.#journal.breakRule(rule, `Socket Mode: ${words}`),
      () => this.#forget(connection),
    );
    if (refusal !== undefined) {
      connection.disconnect(refusal, 0);
      return;
    }
    this.#open.push(connection);
    if (!this.isGreeting) return;
    connection.say({
      type: 'hello',
      num_connections: this.#open.length,
      debug_info: { host: 'applink-1', build_number: 1, approximate_connection_time: 18_060 },
      connection_info: { app_id: APP.id },
    });
  }

  #findRefusal(): string | undefined {
    if (!this.#app.isSocketMode) return 'link_disabled';
    return this.#open.length >= MOST_CONNECTIONS ? 'too_many_websockets' : undefined;
  }

  #forget(connection: AppConnection): void {
    const at = this.#open.indexOf(connection);
    if (at >= 0) this.#open.splice(at, 1);
  }
}

/** What the app acknowledged with; undefined: it did not in time, or the connection has closed. */
type Acknowledgment = { readonly payload: Json } | undefined;

type Settle = (acknowledgment: Acknowledgment) => void;

/** Slack's servers ping as often. */
const PING_MS = 10_000;

class AppConnection {
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
