import { makeGrant, makeServer, NOW } from '../../../src/sandbox/gallery/fixtures/samples.ts';
import type { ServerCard } from '../../../src/servers/card.ts';
import type { SlackRequest } from '../../../src/slack/request.ts';
import type { SlackApi, SlackClients } from '../../../src/slack/slack-api.ts';
import { realSystem } from '../../../src/system.ts';
import { fallAsleep, type Sleeper } from '../../support/clocks.ts';

/** A request that records which use cases were executed. */
interface FakeRequest extends SlackRequest {
  readonly entered: [name: string, input: unknown][];
}

const sheet: ServerCard = { server: makeServer() };

const ANSWERS: Readonly<Record<string, unknown>> = {
  list: { servers: [], extent: 'whole' },
  show: sheet,
  audit: [],
  access_grant: { grant: makeGrant(1) },
  stop: { server: makeServer(), state: 'stopped', isUnconfirmed: false },
};

/** A request whose use cases all succeed without doing anything. */
export function fakeRequest(): FakeRequest {
  const entered: FakeRequest['entered'] = [];
  const say = async () => true;
  const request = {
    entered,
    caller: { actor: { workspaceId: 'T1', userId: 'U1' }, surface: 'command' as const },
    currency: 'EUR',
    now: () => NOW,
    announce: async () => false,
    reply: { send: say, replace: say, edit: say, announce: say },
    execute: async (useCase: { name: string }, input: object) => {
      // What several names stand for is read before anything is done to them.
      if ('names' in input) return { kind: 'names', names: input.names, unmatched: [] };
      entered.push([useCase.name, input]);
      return ANSWERS[useCase.name];
    },
    authorize: async () => undefined,
    findRoles: async () => ({ held: [], possible: [] }),
    explain: (error: unknown) => String(error),
    subrequest: () => request,
  } as unknown as FakeRequest;
  return request;
}

/** A Slack of a few methods; any other fails the test. */
export function partialSlack(methods: Partial<SlackApi>): SlackApi {
  return new Proxy(methods, {
    get: (known, name) => {
      const method = Reflect.get(known, name);
      if (method === undefined) throw new Error(`${String(name)} was not to be called`);
      return method;
    },
  }) as SlackApi;
}

/** The same Slack for every workspace. */
export function clientsOf(slack: Partial<SlackApi>): SlackClients {
  return { of: () => partialSlack(slack) };
}

export type HandClock = ReturnType<typeof handClock>;

/** A clock that stands still until a test moves it; sleeps end when it reaches their end. */
export function handClock() {
  let elapsed = 1000;
  const sleepers = new Set<Sleeper>();
  const sleep = (ms: number, signal?: AbortSignal) => fallAsleep(sleepers, elapsed + ms, signal);
  return {
    system: { ...realSystem, elapsed: () => elapsed, sleep },
    /** Sleeps that have neither ended nor been aborted. */
    sleeping: () => sleepers.size,
    pass: async (ms: number) => {
      elapsed += ms;
      for (const sleeper of sleepers) {
        if (sleeper.until > elapsed) continue;
        sleepers.delete(sleeper);
        sleeper.wake();
      }
      await turn();
    },
  };
}

/** Lets all pending promises settle. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** What a test holds up, and lets go: `pass` says that it was reached, and waits until it is opened. */
export function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let arrive = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const pass = () => {
    arrive();
    return opened;
  };
  return { reached, open, pass };
}
