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

/** A hosting company that does what the test says, below HTTP, and that outlives the processes of the app. */
export interface ScriptedHosting {
  readonly api: HostingApi;
  readonly requests: readonly PaidRequest[];
  readonly servers: Server[];
  plans: Plan[];
  charges: number;
  returned: number;
  /** False while the service does not show all pages of its list. */
  isListComplete: boolean;
  /** What happens while the next paid request waits for the limiter. */
  whileQueued: (() => Promise<unknown>) | undefined;
  /** Whether the API rejects the key. */
  isKeyRevoked: boolean;
  /** What becomes of the next paid requests; after these they are done. */
  script(...scripts: readonly Script[]): void;
  passwordOf(serverId: number): string;
}

/** Does the work of a paid request when it is called. */
type Work<Answer> = () => Answer;

export function createScriptedHosting(clock: HandClock): ScriptedHosting {
  const scripts: Script[] = [];
  const requests: PaidRequest[] = [];
  const later: { readonly at: number; run(): void }[] = [];
  const list = async () => {
    if (hosting.isKeyRevoked) throw new HostingError('unauthorized', 'no');
    for (const work of later.splice(0)) {
      if (work.at <= clock.now()) work.run();
      else later.push(work);
    }
    return [...hosting.servers];
  };
  const paid = async <Answer>(work: Work<Answer>, options: PaidCallOptions) => {
    await hosting.whileQueued?.();
    hosting.whileQueued = undefined;
    const script = await leave(scripts, options, clock, (mayHavePaid) =>
      requests.push({ at: clock.now(), mayHavePaid }),
    );
    return answer(script, { clock, hosting, later, work });
  };
  const hosting: ScriptedHosting = {
    requests,
    servers: [{ id: 1, label: 'db-1', state: 'running', paidUntil: T0 + MONTH_MS }],
    plans: [PLAN],
    charges: 0,
    returned: 0,
    isListComplete: true,
    whileQueued: undefined,
    isKeyRevoked: false,
    script: (...more) => scripts.push(...more),
    passwordOf,
    api: {
      account: ['a'],
      fetchCatalog: async () => ({ plans: [...hosting.plans], locations: ['ams'], images: ['debian-12'] }),
      fetchServers: async () => ({
        servers: await list(),
        extent: hosting.isListComplete ? 'whole' : 'part',
        unreadableCount: 0,
      }),
      createServer: (order, options) => paid(() => createServer(order, hosting, clock), options),
      renewServer: (id, options) => paid(() => renewServer(id, hosting), options),
      changePower: async () => ({ state: 'running' }),
      deleteServer: (id, options) => paid(() => deleteServer(id, hosting), options),
      budget: () => ({ taken: 0, limit: 300, waiting: 0 }),
    },
  };
  return hosting;
}

/** Sends, as the client does: each try is committed first, and only what is proven not to have run is tried again. */
async function leave(
  scripts: Script[],
  { beforeSend }: PaidCallOptions,
  clock: HandClock,
  note: (mayHavePaid: boolean) => void,
): Promise<Script> {
  for (;;) {
    await beforeSend();
    const script = scripts.shift() ?? { kind: 'done' };
    note(script.kind !== 'refused' && script.kind !== 'rate_limited');
    if (script.kind !== 'rate_limited') return script;
    if (script.waitMs !== undefined) await clock.sleep(script.waitMs);
  }
}

interface Case<Answer> {
  readonly clock: HandClock;
  readonly hosting: ScriptedHosting;
  readonly later: { readonly at: number; run(): void }[];
  readonly work: Work<Answer>;
}

async function answer<Answer>(
  script: Script,
  { clock, hosting, later, work }: Case<Answer>,
): Promise<Answer> {
  switch (script.kind) {
    case 'refused':
      throw new HostingError(script.code, 'no');
    case 'no_use':
      if (script.isDone) work();
      throw new HostingError(script.code, 'maybe');
    case 'ambiguous':
      work();
      relabelLast(hosting);
      // Not ours: it was made and paid on the account page, not by this request.
      if (!script.isOurs) hosting.charges--;
      throw new HostingError('no_answer', 'maybe');
    case 'checking': {
      const giveBack = () => {
        hosting.returned++;
      };
      if (!script.isDone) hosting.charges++;
      later.push({ at: clock.now() + script.afterMs, run: script.isDone ? work : giveBack });
      throw new HostingError('checking', 'maybe');
    }
    case 'late': {
      const answered = work();
      await clock.sleep(script.afterMs);
      return answered;
    }
    case 'answers': {
      const { kind: _, ...answered } = script;
      return { ...work(), ...answered };
    }
    case 'unclear': {
      work();
      await clock.sleep(script.afterMs ?? 0);
      throw new HostingError('unreadable_answer', 'maybe', { status: 201 }, script.sealedAnswer);
    }
    default:
      return work();
  }
}

const passwordOf = (serverId: number) => `root-${serverId}`;

function createServer({ label }: Order, hosting: ScriptedHosting, clock: HandClock) {
  const id = 100 + hosting.servers.length;
  hosting.charges++;
  hosting.servers.push({ id, label, state: 'creating', paidUntil: clock.now() + MONTH_MS });
  return { id, state: 'creating', rootPassword: new Secret(passwordOf(id)) };
}

function renewServer(id: number, hosting: ScriptedHosting) {
  const at = hosting.servers.findIndex((server) => server.id === id);
  const server = hosting.servers[at];
  if (server?.paidUntil === undefined) throw new HostingError('not_found', 'no');
  hosting.charges++;
  const paidUntil = server.paidUntil + MONTH_MS;
  hosting.servers[at] = { ...server, paidUntil };
  return { id, paidUntil };
}

function deleteServer(id: number, hosting: ScriptedHosting) {
  const at = hosting.servers.findIndex((server) => server.id === id);
  if (at < 0) throw new HostingError('not_found', 'no');
  hosting.servers.splice(at, 1);
  return true;
}

function relabelLast(hosting: ScriptedHosting): void {
  const server = hosting.servers.pop();
  if (server) hosting.servers.push({ ...server, label: 'another-label' });
}
