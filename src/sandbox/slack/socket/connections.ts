import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { SlackClock } from '../clock.ts';
import type { Ids } from '../ids.ts';
import type { Journal } from '../journal.ts';
import { APP } from '../workspace.ts';
import { type Acknowledgment, AppConnection } from './connection.ts';
import type { Envelope } from './envelope.ts';

/** As many WebSockets of one app as Slack takes (Slack's "Using Socket Mode" page). */
const MOST_CONNECTIONS = 10;
/** How long an address from `apps.connections.open` can be used; a guess. */
const TICKET_MS = 30_000;
/** Slack warns about as long before it closes a connection. */
const WARNING_MS = 10_000;

interface SocketApp {
  isSocketMode: boolean;
}

/** The app's WebSockets: Socket Mode. */
export class SocketConnections {
  readonly #open: AppConnection[] = [];
  readonly #tickets = new Map<string, number>();
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #clock: SlackClock;
  readonly #ids: Ids;
  readonly #journal: Journal;
  readonly #app: SocketApp;
  #next = 0;
  /** False: new connections are not greeted. */
  isGreeting = true;

  constructor(app: SocketApp, clock: SlackClock, ids: Ids, journal: Journal) {
    this.#app = app;
    this.#clock = clock;
    this.#ids = ids;
    this.#journal = journal;
  }

  /** How many WebSockets Slack takes to be open, one that is deaf included. */
  get count(): number {
    return this.#open.length;
  }

  /** The path that one WebSocket can be opened at. */
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
