import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/context.ts';
import { createRequestHandler, notifyRequest } from '../../../src/requests/notify.ts';
import { REQUEST, ROLES_ASKED } from '../../../src/requests/request.ts';
import type { System } from '../../../src/system.ts';
import { newRoleRequest, T0 } from '../../store/fixtures.ts';
import { type Place, places } from '../../store/places.ts';
import { makePorts } from '../support/make-ports.ts';
import { shareDatabase } from '../support/mortal-jobs.ts';

const MINUTE_MS = 60_000;
const OPEN_MS = 10 * MINUTE_MS;

/** Processes with a Slack that takes everything, at once or when the test says so. */
function share(place: Place) {
  const seen = { posted: 0, told: [] as string[], shown: [] as string[] };
  let slack = Promise.resolve();
  const start = (store: Store, system: System) => {
    const ports = makePorts(store, {
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
      await notifyRequest(id, ports, 5000);
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

describe.each(places)('a request on $name', ({ make }) => {
  test.each([
    ['dies', 'asked'],
    ['dies', 'answered'],
    ['dies', 'expired'],
    ['commit unknown', 'answered'],
  ] as const)('is brought to those who wait for it, wherever its process does (%s, %s)', async (kind, act) => {
    const place = await make();
    await (await place.open({ lock: true })).close();
    let at = 0;
    for (let isStruck = true; isStruck; ) {
      at++;
      const { seen, pass, startMortal, startImmortal } = share(place);
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
  test('is posted by one of them, and answered while it is posted, its outcome is told once, by the other', async () => {
    const { seen, delaySlack, pass, startImmortal } = share(await make());
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
    expect(await denying).toMatchObject({ state: 'denied', isNotified: true });
    await pass(MINUTE_MS);
    expect([seen.posted, seen.told]).toEqual([1, ['denied']]);
    expect(await first.store.jobStore.list(REQUEST, 'T1')).toEqual([]);
    await pass(MINUTE_MS, Promise.all([first.close(), second.close()]));
  });
});
