import { beforeEach, expect, it } from 'vitest';
import type { AppContext, Store } from '../../src/context.ts';
import { createEntry } from '../../src/core/entry.ts';
import { Secret } from '../../src/core/secret.ts';
import type { Server } from '../../src/core/server.ts';
import {
  cancelRun,
  carryOutStep,
  createStepRunner,
  findAskingRun,
  type RunOutcome,
  receiveStep,
  type StepEvent,
  type WorkflowRun,
} from '../../src/workflows/run.ts';
import { hashKey, RUN } from '../../src/workflows/store.ts';
import { newGrant, open, stillSystem, T0 } from '../db/support.ts';
import { makeContext, makeHosting, wholeList } from '../support/context.ts';

const KEY = 'vpswf_a-key-of-the-first-team';
const WEB: Server = { id: 1, label: 'web-1', state: 'running' };

let store: Store;
let told: { run: WorkflowRun; outcome: RunOutcome }[] = [];
let asked: WorkflowRun[] = [];
let sent: number[] = [];
beforeEach(async () => {
  [told, asked, sent] = [[], [], []];
  store = await open('sqlite::memory:');
  for (const id of ['T1', 'T2']) {
    await store.workspaces.put({ id, name: id });
    await store.apiKeys.put(id, new Secret('one account'), 'U1', T0);
    await store.grants.put(newGrant({ workspaceId: id, subjectId: `U${id}`, role: 'operator' }));
  }
  await store.workflowKeys.add({
    ...{ id: 'K1', workspaceId: 'T1', name: 'nightly', actions: ['reboot'], pattern: 'web-*' },
    ...{ issuedBy: 'U1', issuedAt: T0, hash: hashKey(new Secret(KEY), 'T1') },
  });
});

function startApp() {
  const api = makeHosting({
    fetchServers: async () => wholeList([WEB]),
    changePower: async (_action, id) => {
      sent.push(id);
      return { id, state: 'running' };
    },
  });
  const workflowNotifier: AppContext['workflowNotifier'] = {
    ask: async (run) => {
      asked.push(run);
      return { card: { channelId: 'C1', ts: '1.1' } };
    },
    end: async (run, outcome) => {
      told.push({ run, outcome });
      return 'told';
    },
    tell: async () => undefined,
  };
  const ports = makeContext(store, {
    system: stillSystem,
    hostingOf: () => api,
    workflowNotifier,
  });
  const entry = createEntry(ports);
  const goOn = createStepRunner(entry, ports);
  ports.jobs.handle({ [RUN]: goOn });
  return { entry, receive: (event: StepEvent) => receiveStep(event, ports), goOn };
}

const stepOf = (event: Partial<StepEvent>): StepEvent => ({
  ...{ workspaceId: 'T1', executionId: 'Fx1', action: 'reboot', server: 'web-1' },
  ...{ key: undefined, channelId: undefined, token: undefined, sentAt: undefined, ...event },
});

async function run(event: Partial<StepEvent>, app = startApp()) {
  const after = await app.receive(stepOf(event));
  await after?.();
  return app;
}

it('an execution that another workspace has had too is a run of its own, and a key opens nothing there', async () => {
  const app = await run({ key: new Secret(KEY) });
  expect(told.map(({ outcome }) => outcome.code)).toEqual(['done']);
  await run({ workspaceId: 'T2', key: new Secret(KEY) }, app);
  expect(told.map(({ outcome }) => outcome.code)).toEqual(['done', 'key_invalid']);
  expect(sent).toEqual([1]);
});

it('a run is sent once, although the lease of a process that carries it out has ended', async () => {
  const { receive, goOn } = startApp();
  await receive(stepOf({ key: new Secret(KEY) }));
  const [job] = await store.jobStore.list(RUN, 'T1');
  if (!job) throw new Error('it has no job');
  const results = await Promise.allSettled([goOn(job), goOn(job)]);
  // The one that was not the first leaves the run to the other.
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(sent).toEqual([1]);
  expect(told.map(({ outcome }) => outcome.code)).toEqual(['done']);
});

it('an operator of another workspace neither carries out nor cancels a run, whatever its ID', async () => {
  const { entry } = await run({ channelId: 'C1' });
  const [asking] = asked;
  if (!asking) throw new Error('nothing was asked');
  const caller = { actor: { workspaceId: 'T2', userId: 'UT2', channelId: 'C1' }, surface: 'button' } as const;
  const runId = asking.id;
  const over = { code: 'workflow_run_over' };
  await expect(entry.execute(findAskingRun, { runId }, caller)).rejects.toMatchObject(over);
  await expect(entry.execute(cancelRun, { runId }, caller)).rejects.toMatchObject(over);
  // Even if the whole run were forged.
  const forged = { ...asking, workspaceId: 'T2' };
  await expect(entry.execute(carryOutStep.reboot, { run: forged }, caller)).rejects.toMatchObject(over);
  expect([sent, told]).toEqual([[], []]);
});

it('a key that was entered in the wrong field is not stored, shown or asked about', async () => {
  await run({ server: `  ${KEY}`, channelId: 'C1' });
  await run({ executionId: 'Fx2', server: `web-1 ${KEY}`, key: new Secret(KEY) });
  await run({ executionId: 'Fx3', channelId: `C1 ${KEY}`, key: new Secret(KEY) });
  expect(told.map(({ outcome }) => outcome.code)).toEqual(['bad_input', 'bad_input', 'done']);
  const audit = await store.audit.list({ workspaceId: 'T1', limit: 50 });
  expect(JSON.stringify([told, asked, audit])).not.toContain('vpswf_');
});
