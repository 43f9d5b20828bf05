import { describe, expect, test } from 'vitest';
import type { AppContext, Store } from '../src/context.ts';
import { createEntry } from '../src/core/entry.ts';
import { Secret } from '../src/core/secret.ts';
import { DAY_MS, MINUTE_MS } from '../src/core/time.ts';
import { CommitUnknown } from '../src/db/database.ts';
import type { Jobs } from '../src/db/jobs.ts';
import { type openEngine, openStore } from '../src/db/open-store.ts';
import { OPERATION } from '../src/purchases/operation.ts';
import { createOperationHandler } from '../src/purchases/pay.ts';
import { BATCH, confirmRenewals, createBatchHandler, type RenewalResult } from '../src/reminders/batch.ts';
import { createRequestHandler, notifyRequest } from '../src/requests/notify.ts';
import { REQUEST, ROLES_ASKED } from '../src/requests/request.ts';
import type { System } from '../src/system.ts';
import { carryOutStep, createStepRunner, findAskingRun, receiveStep } from '../src/workflows/run.ts';
import { hashKey, RUN } from '../src/workflows/store.ts';
import { newGrant, newRoleRequest, T0, vault } from './db/fixtures.ts';
import { type Place, places, shareClock } from './db/places.ts';
import { makeContext, makeHosting } from './support/context.ts';
import { never, type Watch, watchDatabase } from './support/statements.ts';

const WRITE = /^(insert|update|delete|commit)/;

/** The cases that can happen on an engine: the commit of a database in the same process is never unknown. */
function casesOf<const Case extends readonly [Fate['kind'], ...string[]]>(
  { name }: { readonly name: string },
  cases: readonly Case[],
) {
  return cases.filter(([kind]) => kind === 'dies' || name !== 'SQLite');
}

/** What happens at one of the steps before and after each write and commit of a process. */
interface Fate {
  readonly kind: 'dies' | 'commit unknown';
  readonly at: number;
}

/** Processes that share a database, whose schema is there, and a clock; `start` makes one of a store. */
function shareDatabase<Process extends { readonly jobs: Jobs }>(
  place: Place,
  start: (store: Store, system: System) => Process,
) {
  const { clock, system, counted, settle } = shareClock(place);
  /** Several may have it open: none is the only one, which would free the leases of the others. */
  const openBeside = (watch: Watch) => {
    const open: typeof openEngine = async (url, options) => {
      const engine = await place.openEngine(url, options);
      return { ...engine, dialect: watchDatabase(engine.dialect, watch) };
    };
    return openStore({ databaseUrl: place.url, vault, system, lock: false, openEngine: open });
  };
  return {
    system,
    /** Time passes until the work has ended, and no longer than this: the work of a dead process never ends. */
    pass: async (ms: number, work: Promise<unknown> = never()) => {
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      work.then(end, end);
      // Processes of one thread can't wait for each other's transactions on SQLite.
      await settle();
      for (let passed = 0; passed < ms && !isOver; passed += ms / 12) {
        await clock.pass(ms / 12);
        await settle();
      }
    },
    /** A process that dies, or loses the answer to its commit, at that step. It does nothing by itself. */
    startMortal: async ({ kind, at }: Fate) => {
      let steps = 0;
      let isDead = false;
      let isWatched = false;
      const watch: Watch = async ({ sql }, run, connection) => {
        const die = async () => {
          isDead = true;
          await connection.abandon().catch(() => undefined);
          return never();
        };
        if (isDead) return die();
        if (!isWatched || !WRITE.test(sql)) return counted(run);
        const strike = async () => {
          if (++steps !== at) return;
          if (kind === 'commit unknown' && sql === 'commit') throw new CommitUnknown(new Error('lost'));
          if (kind === 'dies') await die();
        };
        if (kind === 'dies') await strike();
        const result = await counted(run);
        await strike();
        return result;
      };
      const store = await openBeside(watch);
      const process = start(store, system);
      isWatched = true;
      return { ...process, store, steps: () => steps };
    },
    /** A process that does what is due until it is closed. */
    startImmortal: async () => {
      const store = await openBeside((_statement, run) => counted(run));
      const process = start(store, system);
      const stop = new AbortController();
      const ended = process.jobs.run(stop.signal);
      const close = async () => {
        stop.abort();
        await ended;
        await store.close();
      };
      return { ...process, store, close };
    },
  };
}

const paidUntil = T0 + 30 * DAY_MS;

/** Processes with an account of three servers, each of which can be renewed. */
function shareBatches(place: Place) {
  const seen = { paid: [] as number[], told: [] as (readonly RenewalResult[])[] };
  const servers = [1, 2, 3].map((id) => ({ id, label: 'web-1', state: 'running', paidUntil }));
  const api = makeHosting({
    account: ['key'],
    fetchServers: async () => ({ servers, extent: 'whole', unreadableCount: 0 }),
    renewServer: async (id, options) => {
      await options?.beforeSend?.();
      seen.paid.push(id);
      return { id, paidUntil: paidUntil + 1000 };
    },
  });
  const start = (store: Store, system: System) => {
    const ports = makeContext(store, {
      system,
      hostingOf: () => api,
      ownersOf: () => ['U1'],
      batchNotifier: { notifyBatch: async (_batch, results) => seen.told.push(results) > 0 },
    });
    const own = createEntry(ports);
    ports.jobs.handle({
      [BATCH]: createBatchHandler(ports),
      [OPERATION]: createOperationHandler(ports),
    });
    const press = async (id: string) => {
      const actor = { workspaceId: 'T1', userId: 'U1' };
      await own.execute(confirmRenewals, { id }, { actor, surface: 'modal' });
      await own.drain();
    };
    return { jobs: ports.jobs, press };
  };
  return { seen, servers, ...shareDatabase(place, start) };
}

describe.each(places)('renewals that are confirmed together on $name', (engine) => {
  test.each(
    casesOf(engine, [['dies'], ['commit unknown']]),
  )('are paid once each at most, and reported, wherever their process does (%s)', async (kind) => {
    const place = await engine.make();
    await (await place.open({ lock: true })).close();
    let at = 0;
    for (let isStruck = true; isStruck; at++) {
      const { seen, servers, system, pass, startMortal, startImmortal } = shareBatches(place);
      const other = await startImmortal();
      const { store } = other;
      await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
      await store.apiKeys.put('T1', new Secret('key'), 'U1', T0);
      // Other months of the same servers each time.
      const until = paidUntil + at;
      for (const server of servers) server.paidUntil = until;
      const id = `F${String(at).padStart(4, '0')}`;
      const renewals = [1, 2, 3].map((serverId) => ({
        ...{ id: `${id}O${serverId}`, serverId, label: 'web-1' },
        paidUntil: until,
      }));
      const by = { workspaceId: 'T1', actorId: 'U1', at: system.now() };
      await store.renewalBatches.put({ id, ...by, renewals });
      const mortal = await startMortal({ kind, at: at + 1 });
      await pass(12_000, mortal.press(id));
      isStruck = mortal.steps() > at;
      const found = await store.renewalBatches.find(id);
      await pass(6 * MINUTE_MS);
      const isConfirmed = found?.state !== 'open';
      expect({ at, paid: [...seen.paid].sort() }).toEqual({ at, paid: [...new Set(seen.paid)].sort() });
      expect({ at, told: seen.told.length > 0 }).toEqual({ at, told: isConfirmed });
      // What Slack took and nobody could store is told once more.
      expect(seen.told.length).toBeLessThanOrEqual(2);
      for (const results of seen.told)
        for (const result of results) {
          const kindOf = result.kind === 'operation' ? result.operation.state : result.kind;
          const isPaid = seen.paid.includes(result.renewal.serverId);
          expect({ at, isPaid, kindOf }).toMatchObject({
            kindOf: expect.stringMatching(
              isPaid ? /^(settled|unconfirmed)$/ : /^(refused|unconfirmed|not_begun)$/,
            ),
          });
        }
      await pass(MINUTE_MS, Promise.all([other.close(), mortal.store.close()]));
    }
    expect(at).toBeGreaterThan(30);
  });
});

const OPEN_MS = 10 * MINUTE_MS;

/** Processes with a Slack that takes everything, at once or when the test says so. */
function shareRequests(place: Place) {
  const seen = { posted: 0, told: [] as string[], shown: [] as string[] };
  let slack = Promise.resolve();
  const start = (store: Store, system: System) => {
    const ports = makeContext(store, {
      system,
      requestNotifier: {
        postCards: async () => {
          seen.posted++;
          await slack;
          return [{ channelId: 'D1', ts: '1.1' }];
        },
        updateCards: async ({ state }) => seen.shown.push(state) > 0,
        notifyRequester: async ({ state }) => seen.told.push(state) > 0,
      },
      ownersOf: () => ['U9'],
    });
    ports.jobs.handle({ [REQUEST]: createRequestHandler(ports) });
    const ask = async (id: string) => {
      const expiresAt = system.now() + OPEN_MS;
      const request = newRoleRequest({ id, pattern: id, requestedAt: T0, expiresAt });
      await ports.requests.requestRole(request, { since: T0 + 1, most: 9 });
      await notifyRequest(id, ports);
    };
    const deny = async (id: string) => {
      await ports.requests.move(id, ['open'], { state: 'denied', by: 'U9', at: system.now() });
      await notifyRequest(id, ports);
      return ports.requests.find(id, ROLES_ASKED);
    };
    return { jobs: ports.jobs, ask, deny };
  };
  const delaySlack = () => {
    let answer: () => void = () => undefined;
    slack = new Promise((resolve) => {
      answer = resolve;
    });
    return answer;
  };
  return { seen, delaySlack, ...shareDatabase(place, start) };
}

describe.each(places)('a request on $name', (engine) => {
  test.each(
    casesOf(engine, [
      ['dies', 'asked'],
      ['dies', 'answered'],
      ['dies', 'expired'],
      ['commit unknown', 'answered'],
    ]),
  )('is brought to those who wait for it, wherever its process does (%s, %s)', async (kind, act) => {
    const place = await engine.make();
    await (await place.open({ lock: true })).close();
    let at = 0;
    for (let isStruck = true; isStruck; ) {
      at++;
      const { seen, pass, startMortal, startImmortal } = shareRequests(place);
      const other = await startImmortal();
      const id = `R${at}`;
      if (act !== 'asked') await pass(MINUTE_MS, other.ask(id));
      if (act === 'expired') await pass(MINUTE_MS, other.close());
      const mortal = await startMortal({ kind, at });
      if (act === 'asked') await pass(12_000, mortal.ask(id));
      if (act === 'answered') await pass(12_000, mortal.deny(id));
      if (act === 'expired') await pass(OPEN_MS + 1000);
      if (act === 'expired') await pass(12_000, mortal.jobs.runDue());
      isStruck = mortal.steps() >= at;
      const next = act === 'expired' ? await startImmortal() : other;
      await pass(2 * MINUTE_MS);
      const found = await next.store.requests.find(id, ROLES_ASKED);
      const steps = { at, state: found?.state, isNotified: found?.isNotified };
      if (act === 'asked' && found) {
        expect(steps).toMatchObject({ state: 'open', isNotified: true });
        expect(found.cards).toHaveLength(1);
        // What Slack took and nobody could store is posted once more.
        expect(seen.posted).toBeLessThanOrEqual(2);
      }
      if (act !== 'asked') {
        const state = act === 'expired' ? 'expired' : 'denied';
        const isUndone = act === 'answered' && found?.state === 'open';
        if (!isUndone) expect(steps).toMatchObject({ state, isNotified: true });
        expect(new Set(seen.told)).toEqual(new Set(isUndone ? [] : [state]));
        expect(seen.told.length).toBeLessThanOrEqual(2);
        const audited = await next.store.audit.list({ workspaceId: 'T1', limit: 100 });
        expect(audited.filter(({ code }) => code === 'expired')).toHaveLength(act === 'expired' ? at : 0);
        if (!isUndone)
          expect((await next.store.jobStore.list(REQUEST, 'T1')).map(({ key }) => key)).not.toContain(id);
      }
      if (found?.state === 'open') await pass(MINUTE_MS, next.deny(id));
      await pass(MINUTE_MS, Promise.all([next.close(), mortal.store.close()]));
    }
    expect(at).toBeGreaterThan(6);
  });
});

const several = places.filter(({ name }) => name === 'PostgreSQL');

describe.each(several)('a request that two processes share on $name', ({ make }) => {
  test('is posted by one of them, and answered while it is posted, its outcome is told once', async () => {
    const { seen, delaySlack, pass, startImmortal } = shareRequests(await make());
    const [first, second] = [await startImmortal(), await startImmortal()];
    const answer = delaySlack();
    const asking = first.ask('R1');
    await pass(1200);
    await second.jobs.runDue();
    expect(seen.posted).toBe(1);
    const denying = second.deny('R1');
    await pass(1200);
    expect(seen.told).toEqual([]);
    answer();
    await pass(6000, Promise.all([asking, denying]));
    expect(await denying).toMatchObject({ state: 'denied' });
    await pass(MINUTE_MS);
    expect([seen.posted, seen.told]).toEqual([1, ['denied']]);
    expect(await first.store.jobStore.list(REQUEST, 'T1')).toEqual([]);
    await pass(MINUTE_MS, Promise.all([first.close(), second.close()]));
  });
});

const KEY = new Secret('vpswf_a-key');

/** Longer than a run has: with fewer, some would be lost sight of. */
const LEAST_STEPS = 12;

/** Processes that share a database and a clock, a Slack that takes everything, and an account with one server. */
function shareSteps(place: Place) {
  const seen = { sent: 0, outcomes: new Set<string>() };
  const start = (store: Store, system: System) => {
    const workflowNotifier: AppContext['workflowNotifier'] = {
      ask: async () => ({ card: { channelId: 'C1', ts: '1.1' } }),
      end: async (_run, { code }) => {
        seen.outcomes.add(code);
        return 'told';
      },
      tell: async () => undefined,
    };
    const servers = [{ id: 1, label: 'web-1', state: 'running' }];
    const api = makeHosting({
      fetchServers: async () => ({ servers, extent: 'whole', unreadableCount: 0 }),
      changePower: async (_action, id) => {
        seen.sent++;
        return { id, state: 'running' };
      },
    });
    const ports = makeContext(store, { system, hostingOf: () => api, workflowNotifier });
    const entry = createEntry(ports);
    ports.jobs.handle({ [RUN]: createStepRunner(entry, ports) });
    const receive = async (executionId: string, key?: Secret<string>) => {
      const input = { action: 'start', server: 'web-1', channelId: executionId };
      const step = { ...input, workspaceId: 'T1', executionId, key, token: undefined, sentAt: undefined };
      await (await receiveStep(step, ports))?.();
    };
    const press = async (runId: string) => {
      const actor = { workspaceId: 'T1', userId: 'U1', channelId: 'C1' };
      const caller = { actor, surface: 'button' } as const;
      const run = await entry.execute(findAskingRun, { runId }, caller);
      await entry.execute(carryOutStep.start, { run }, caller);
    };
    return { jobs: ports.jobs, receive, press };
  };
  return { seen, ...shareDatabase(place, start) };
}

describe.each(places)('a workflow’s step on $name', (engine) => {
  test.each(
    casesOf(engine, [
      ['dies', 'by its key'],
      ['dies', 'by a press'],
      ['commit unknown', 'by its key'],
      ['commit unknown', 'by a press'],
    ]),
  )('is sent once at most, and ends as it was, wherever its process does (%s, %s)', async (kind, by) => {
    const place = await engine.make();
    await (await place.open({ lock: true })).close();
    let at = 0;
    for (let isStruck = true; isStruck; ) {
      at++;
      const { seen, pass, startMortal, startImmortal } = shareSteps(place);
      const other = await startImmortal();
      const { store } = other;
      await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
      await store.apiKeys.put('T1', new Secret('one account'), 'U1', T0);
      await store.grants.put(newGrant({ workspaceId: 'T1', subjectId: 'U1', role: 'operator' }));
      const id = `${at}`;
      const key = new Secret(`${KEY.reveal()}-${id}`);
      const issued = { id, workspaceId: 'T1', name: id, pattern: '', issuedBy: 'U1', issuedAt: T0 };
      const hash = hashKey(key, 'T1');
      await store.workflowKeys.add({ ...issued, actions: ['start'], hash }, 1000);
      const listRuns = () => store.jobStore.list(RUN, 'T1');
      const findRun = async () => {
        const rows = await place.sql(`select id from workflow_runs where execution_id = '${id}'`);
        return store.workflowRuns.find('T1', String(rows[0]?.id));
      };
      /** An event that Slack delivers again, or a press that a user repeats. */
      const ask = async ({ press, receive }: Pick<typeof other, 'press' | 'receive'>) =>
        by === 'by a press' ? press((await findRun())?.id ?? '') : receive(id, key);
      if (by === 'by a press') await pass(12_000, other.receive(id));
      const mortal = await startMortal({ kind, at });
      await pass(12_000, ask(mortal));
      isStruck = mortal.steps() >= at;
      await pass(60_000);
      await pass(12_000, ask(other));
      await pass(60_000);
      const { state, outcome } = (await findRun()) ?? {};
      const honest = seen.sent === 1 ? /^(done|interrupted)$/ : /^(interrupted|not_done)$/;
      expect({ at, state, outcome }).toMatchObject({
        state: 'ended',
        outcome: { code: expect.stringMatching(honest) },
      });
      expect(seen.sent).toBeLessThan(2);
      expect([...seen.outcomes]).toEqual([outcome?.code]);
      for (
        let left = await listRuns(), tries = 0;
        left.length > 0 && tries < 5;
        left = await listRuns(), tries++
      )
        await pass(60_000);
      expect(await listRuns()).toEqual([]);
      await pass(60_000, Promise.all([other.close(), mortal.store.close()]));
    }
    expect(at).toBeGreaterThan(LEAST_STEPS);
  });
});
