import type { Order, Plan } from '../../../src/core/catalog.ts';
import { HostingError } from '../../../src/core/errors.ts';
import { money } from '../../../src/core/money.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { Server } from '../../../src/core/server.ts';
import type { HostingApi, PaidCallOptions } from '../../../src/hosting/hosting-api.ts';
import { T0 } from '../../db/fixtures.ts';
import type { HandClock } from './scenario.ts';

export const MONTH_MS = 30 * 86_400_000;
const PLAN: Plan = { code: 's1', vcpu: 1, ramMb: 1024, diskGb: 20, monthly: money(499) };

/** What the hosting company does with the next paid request or delete, and what it answers. */
export type Script =
  | { readonly kind: 'done' }
  /** Done; the answer comes after this time. */
  | { readonly kind: 'late'; readonly afterMs: number }
  /** The API says that it did nothing. */
  | { readonly kind: 'refused'; readonly code: HostingError['code'] }
  /** The client gets nothing that it can use. */
  | {
      readonly kind: 'no_use';
      readonly code: 'no_answer' | 'unreadable_answer' | 'unknown_code';
      readonly isDone: boolean;
    }
  /** No answer, and a new server with another label: ours, which was relabeled, or one that was made elsewhere. */
  | { readonly kind: 'ambiguous'; readonly isOurs: boolean }
  /** The supplier has not confirmed: done, or the charge returned, after this time. */
  | { readonly kind: 'checking'; readonly isDone: boolean; readonly afterMs: number }
  /** Done, and answered with this instead. */
  | { readonly kind: 'answers'; readonly id: number; readonly paidUntil?: number }
  /** Done, and answered with a success that proves nothing, after this time. */
  | { readonly kind: 'unclear'; readonly sealedAnswer: Secret<string>; readonly afterMs?: number }
  /** Proven not to have run; the client sends it again by itself, after a wait and `beforeSend`. */
  | { readonly kind: 'rate_limited'; readonly waitMs?: number };

export const lost = (isDone: boolean): Script => ({ kind: 'no_use', code: 'no_answer', isDone });

/** One paid request, or delete, that left the app. */
interface PaidRequest {
  readonly at: number;
  /** False when its answer proved that it did nothing. */
  readonly mayHavePaid: boolean;
}

/** Does the work of a paid request when it is called. */
type Work<Answer> = () => Answer;

/** A hosting company that does what the test says, below HTTP, and that outlives the processes of the app. */
export class ScriptedHosting {
  readonly requests: PaidRequest[] = [];
  readonly servers: Server[] = [{ id: 1, label: 'db-1', state: 'running', paidUntil: T0 + MONTH_MS }];
  plans: readonly Plan[] = [PLAN];
  charges = 0;
  returned = 0;
  /** False while the service does not show all pages of its list. */
  isListComplete = true;
  /** What happens while the next paid request waits for the limiter. */
  whileQueued: (() => Promise<unknown>) | undefined;
  /** Whether the API rejects the key. */
  isKeyRevoked = false;
  readonly api: HostingApi = {
    account: ['a'],
    fetchCatalog: async () => ({ plans: this.plans, locations: ['ams'], images: ['debian-12'] }),
    fetchServers: async () => ({
      servers: this.#list(),
      extent: this.isListComplete ? 'whole' : 'part',
      unreadableCount: 0,
    }),
    createServer: (order, options) => this.#pay(() => this.#create(order), options),
    renewServer: (id, options) => this.#pay(() => this.#renew(id), options),
    changePower: async () => ({ state: 'running' }),
    deleteServer: (id, options) => this.#pay(() => this.#delete(id), options),
    budget: () => ({ taken: 0, limit: 300, waiting: 0 }),
  };
  readonly #clock: HandClock;
  readonly #scripts: Script[] = [];
  #later: { readonly at: number; run(): void }[] = [];

  constructor(clock: HandClock) {
    this.#clock = clock;
  }

  /** What becomes of the next paid requests; after these they are done. */
  script(...scripts: readonly Script[]): void {
    this.#scripts.push(...scripts);
  }

  passwordOf(serverId: number): string {
    return `root-${serverId}`;
  }

  #list(): readonly Server[] {
    if (this.isKeyRevoked) throw new HostingError('unauthorized', 'no');
    const now = this.#clock.now();
    for (const { run } of this.#later.filter(({ at }) => at <= now)) run();
    this.#later = this.#later.filter(({ at }) => at > now);
    return [...this.servers];
  }

  async #pay<Answer>(work: Work<Answer>, options: PaidCallOptions): Promise<Answer> {
    await this.whileQueued?.();
    this.whileQueued = undefined;
    return this.#answer(await this.#leave(options), work);
  }

  /** Sends, as the client does: each try is committed first, and only what is proven not to have run is tried again. */
  async #leave({ beforeSend }: PaidCallOptions): Promise<Script> {
    for (;;) {
      await beforeSend();
      const script = this.#scripts.shift() ?? { kind: 'done' };
      const mayHavePaid = script.kind !== 'refused' && script.kind !== 'rate_limited';
      this.requests.push({ at: this.#clock.now(), mayHavePaid });
      if (script.kind !== 'rate_limited') return script;
      if (script.waitMs !== undefined) await this.#clock.sleep(script.waitMs);
    }
  }

  async #answer<Answer>(script: Script, work: Work<Answer>): Promise<Answer> {
    switch (script.kind) {
      case 'refused':
        throw new HostingError(script.code, 'no');
      case 'no_use':
        if (script.isDone) work();
        throw new HostingError(script.code, 'maybe');
      case 'ambiguous':
        work();
        this.#relabelLast();
        // Not ours: it was made and paid on the account page, not by this request.
        if (!script.isOurs) this.charges--;
        throw new HostingError('no_answer', 'maybe');
      case 'checking': {
        const giveBack = () => {
          this.returned++;
        };
        if (!script.isDone) this.charges++;
        this.#later.push({ at: this.#clock.now() + script.afterMs, run: script.isDone ? work : giveBack });
        throw new HostingError('checking', 'maybe');
      }
      case 'late': {
        const answered = work();
        await this.#clock.sleep(script.afterMs);
        return answered;
      }
      case 'answers': {
        const { kind: _, ...answered } = script;
        return { ...work(), ...answered };
      }
      case 'unclear': {
        work();
        await this.#clock.sleep(script.afterMs ?? 0);
        throw new HostingError('unreadable_answer', 'maybe', { status: 201 }, script.sealedAnswer);
      }
      default:
        return work();
    }
  }

  #create({ label }: Order) {
    const id = 100 + this.servers.length;
    this.charges++;
    this.servers.push({ id, label, state: 'creating', paidUntil: this.#clock.now() + MONTH_MS });
    return { id, state: 'creating', rootPassword: new Secret(this.passwordOf(id)) };
  }

  #renew(id: number) {
    const at = this.servers.findIndex((server) => server.id === id);
    const server = this.servers[at];
    if (server?.paidUntil === undefined) throw new HostingError('not_found', 'no');
    this.charges++;
    const paidUntil = server.paidUntil + MONTH_MS;
    this.servers[at] = { ...server, paidUntil };
    return { id, paidUntil };
  }

  #delete(id: number) {
    const at = this.servers.findIndex((server) => server.id === id);
    if (at < 0) throw new HostingError('not_found', 'no');
    this.servers.splice(at, 1);
    return true;
  }

  #relabelLast(): void {
    const server = this.servers.pop();
    if (server) this.servers.push({ ...server, label: 'another-label' });
  }
}
