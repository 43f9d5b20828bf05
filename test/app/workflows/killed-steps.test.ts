import { describe, expect, test } from 'vitest';
import type { AppContext, Store } from '../../../src/context.ts';
import { createEntry } from '../../../src/core/entry.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { System } from '../../../src/system.ts';
import { hashKey } from '../../../src/workflows/keys.ts';
import {
  carryOutStep,
  createStepIntake,
  createStepRunner,
  findAskingRun,
} from '../../../src/workflows/run.ts';
import { RUN } from '../../../src/workflows/store.ts';
import { newGrant, T0 } from '../../store/fixtures.ts';
import { type Place, places } from '../../store/places.ts';
import { makeHosting } from '../support/make-hosting.ts';
import { makePorts } from '../support/make-ports.ts';
import { shareDatabase } from '../support/mortal-jobs.ts';

const KEY = new Secret('vpswf_a-key');
/** Longer than a run has: with fewer, some would be lost sight of. */
const LEAST_STEPS = 12;

/** Processes that share a database and a clock, a Slack that takes everything, and an account with one server. */
function share(place: Place) {
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
    const ports = makePorts(store, { system, hostingOf: () => api, workflowNotifier });
    const entry = createEntry(ports);
    ports.jobs.handle({ [RUN]: createStepRunner(entry, ports) });
    const receive = async (executionId: string, key?: Secret<string>) => {
      const input = { action: 'start', server: 'web-1', channelId: executionId };
      const step = { ...input, workspaceId: 'T1', executionId, key, token: undefined, sentAt: undefined };
      await (await createStepIntake(ports).receive(step))?.();
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

describe.each(places)('a workflow’s step on $name', ({ make }) => {
  test.each([
    ['dies', 'by its key'],
    ['dies', 'by a press'],
    ['commit unknown', 'by its key'],
    ['commit unknown', 'by a press'],
  ] as const)('is sent once at most, and ends as it was, wherever its process does (%s, %s)', async (kind, by) => {
    const place = await make();
    await (await place.open({ lock: true })).close();
    let at = 0;
    for (let isStruck = true; isStruck; ) {
      at++;
      const { seen, pass, startMortal, startImmortal } = share(place);
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
