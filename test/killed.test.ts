import { describe, expect, test } from 'vitest';
import type { AppContext, Store } from '../src/context.ts';
import { createEntry } from '../src/core/entry.ts';
import { Secret } from '../src/core/secret.ts';
import { MINUTE_MS } from '../src/core/time.ts';
import { createRequestHandler, notifyRequest } from '../src/requests/notify.ts';
import { REQUEST, ROLES_ASKED } from '../src/requests/request.ts';
import type { System } from '../src/system.ts';
import { carryOutStep, createStepRunner, findAskingRun, receiveStep } from '../src/workflows/run.ts';
import { hashKey, RUN } from '../src/workflows/store.ts';
import { newGrant, newRoleRequest, T0 } from './db/fixtures.ts';
import { type Place, places } from './db/places.ts';
import { makeContext, makeHosting } from './support/context.ts';
import { casesOf, shareDatabase, strideOf } from './support/mortal.ts';

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
      await ports.requests.requestRole(request, T0 + 1);
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
    let at = 1;
    let tries = 0;
    // Twice, since a busy machine may cut a try short.
    for (let unstruck = 0; unstruck < 2; at += strideOf(kind)) {
      tries++;
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
      unstruck = mortal.steps() >= at ? 0 : unstruck + 1;
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
        expect(audited.filter(({ code }) => code === 'expired')).toHaveLength(act === 'expired' ? tries : 0);
        if (!isUndone)
          expect((await next.store.jobStore.list(REQUEST, 'T1')).map(({ key }) => key)).not.toContain(id);
      }
      if (found?.state === 'open') await pass(MINUTE_MS, next.deny(id));
      await pass(MINUTE_MS, Promise.all([next.close(), mortal.store.close()]));
    }
    expect(at).toBeGreaterThan(kind === 'dies' ? 6 : 2);
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
    let at = 1;
    // Twice, since a busy machine may cut a try short.
    for (let unstruck = 0; unstruck < 2; at += strideOf(kind)) {
      const { seen, pass, startMortal, startImmortal } = shareSteps(place);
      const other = await startImmortal();
      const { store } = other;
      await store.workspaces.put({ id: 'T1', name: 'Acme' });
      await store.apiKeys.put('T1', new Secret('one account'), 'U1', T0);
      await store.grants.put(newGrant({ workspaceId: 'T1', subjectId: 'U1', role: 'operator' }));
      const id = `${at}`;
      const key = new Secret(`${KEY.reveal()}-${id}`);
      const issued = { id, workspaceId: 'T1', name: id, pattern: '', issuedBy: 'U1', issuedAt: T0 };
      const hash = hashKey(key, 'T1');
      await store.workflowKeys.add({ ...issued, actions: ['start'], hash });
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
      unstruck = mortal.steps() >= at ? 0 : unstruck + 1;
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
    expect(at).toBeGreaterThan(kind === 'dies' ? 12 : 3);
  });
});
