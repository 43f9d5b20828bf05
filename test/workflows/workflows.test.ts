import { describe, expect, test } from 'vitest';
import type { WorkflowKey } from '../../src/core/roles.ts';
import { Secret } from '../../src/core/secret.ts';
import { type NewRun, NO_KEY } from '../../src/workflows/run.ts';
import { RUN } from '../../src/workflows/store.ts';
import { engines, stillSystem, T0 } from '../db/support.ts';

const MINUTE = { most: 2, withinMs: 60_000 };
const TOKEN = new Secret('xwfp-canary-of-a-run');

function newKey(more: Partial<WorkflowKey & { hash: string }> = {}): WorkflowKey & { hash: string } {
  return {
    id: stillSystem.newId(),
    workspaceId: 'T1',
    name: 'nightly',
    hash: 'hash-1',
    actions: ['reboot', 'stop'],
    pattern: 'web-*',
    issuedBy: 'U1',
    issuedAt: T0,
    ...more,
  };
}

function newRun(more: Partial<NewRun> = {}): NewRun {
  const id = stillSystem.newId();
  return {
    id,
    workspaceId: 'T1',
    executionId: `Fx${id}`,
    action: 'reboot',
    label: 'web-1',
    key: NO_KEY,
    channelId: 'C1',
    receivedAt: T0,
    ...more,
  };
}

/** The same run once it is stored. */
const newReceived = (more: Partial<NewRun> = {}) => ({ ...newRun(more), state: 'received' as const });

describe.each(engines)('workflows, on $name', ({ make }) => {
  test('workflow keys are those of their workspace, one of each name, and a removed one is gone', async () => {
    const { workflowKeys } = await make();
    const key = newKey({ until: T0 + 1000 });
    expect(await workflowKeys.add(key)).toBe(true);
    expect(await workflowKeys.add(newKey({ name: 'NIGHTLY', hash: 'hash-2' }))).toBe(false);
    expect(await workflowKeys.add(newKey({ workspaceId: 'T2' }))).toBe(true);
    const { hash, ...shown } = key;
    expect(await workflowKeys.list('T1')).toEqual([shown]);
    expect(await workflowKeys.findByHash('T1', hash)).toEqual(shown);
    expect(await workflowKeys.findByHash('T1', 'hash-2')).toBeUndefined();
    expect(await workflowKeys.findByHash('T3', hash)).toBeUndefined();
    expect(await workflowKeys.find('T1', key.id)).toEqual(shown);
    expect(await workflowKeys.find('T2', key.id)).toBeUndefined();
    expect(await workflowKeys.remove('T2', key.id)).toBeUndefined();
    expect(await workflowKeys.remove('T1', key.id)).toEqual(shown);
    expect(await workflowKeys.list('T1')).toEqual([]);
  });

  test('an execution is stored once, however often it is delivered', async () => {
    const { jobStore, workflowRuns } = await make();
    const run = newRun();
    expect(await workflowRuns.receive(run, TOKEN)).toBe(true);
    expect(await workflowRuns.receive({ ...run, id: stillSystem.newId() }, TOKEN)).toBe(false);
    expect(await workflowRuns.find('T1', run.id)).toEqual({ ...run, state: 'received' });
    expect(await workflowRuns.find('T2', run.id)).toBeUndefined();
    expect(await jobStore.list(RUN, 'T1')).toMatchObject([{ key: run.id }]);
    const token = await workflowRuns.findToken({ ...run, state: 'received' });
    expect(token?.reveal()).toBe(TOKEN.reveal());
  });

  test('a run ends once, is reported once, and its token is erased then', async () => {
    const { jobStore, workflowRuns } = await make();
    const run = newReceived();
    await workflowRuns.receive(run, TOKEN);
    const done = { code: 'done', details: { label: 'web-1', state: 'running' } } as const;
    expect(await workflowRuns.end(run, ['sent'], done)).toBeUndefined();
    const ended = { ...run, state: 'ended', outcome: done };
    expect(await workflowRuns.end(run, ['received'], done)).toEqual(ended);
    expect(await workflowRuns.end(run, ['received'], { code: 'too_late', details: {} })).toBeUndefined();
    expect(await jobStore.list(RUN, 'T1')).toHaveLength(1);
    await workflowRuns.markTold(run);
    expect(await jobStore.list(RUN, 'T1')).toEqual([]);
    expect(await workflowRuns.findToken(run)).toBeUndefined();
    await workflowRuns.removeBefore(T0 + 1);
    expect(await workflowRuns.find('T1', run.id)).toBeUndefined();
  });

  test('nothing is sent with a key that was revoked, or has expired, at that moment', async () => {
    const { workflowKeys, workflowRuns } = await make();
    const key = newKey({ until: T0 + 1000 });
    await workflowKeys.add(key);
    const runOf = async () => {
      const run = newReceived({ key: { kind: 'key', id: key.id, name: key.name } });
      await workflowRuns.receive(run, undefined);
      return run;
    };
    expect(await workflowRuns.send(await runOf(), { now: T0 })).toBe('sent');
    expect(await workflowKeys.find('T1', key.id)).toMatchObject({ lastUsedAt: T0 });
    expect(await workflowRuns.send(await runOf(), { now: T0 + 1000 })).toBe('key_gone');
    await workflowKeys.remove('T1', key.id);
    expect(await workflowRuns.send(await runOf(), { now: T0 })).toBe('key_gone');
  });

  test.each([
    ['without a key', 'in one channel', (channelId: string) => ({ channelId })],
    [
      'with one key',
      'in any channel',
      (id: string) => ({ key: { kind: 'key', id, name: id } as const, channelId: stillSystem.newId() }),
    ],
  ])('only so many runs %s are admitted in a minute %s, each counted once', async (_key, _where, factsOf) => {
    const { workflowRuns } = await make();
    const receive = async (name: string, receivedAt = T0) => {
      const run = newReceived({ ...factsOf(name), receivedAt });
      await workflowRuns.receive(run, undefined);
      return run;
    };
    const [one, two, three] = [await receive('C1'), await receive('C1'), await receive('C1')];
    const other = await receive('C2');
    for (const run of [one, two, one, other])
      expect(await workflowRuns.isWithinLimit(run, MINUTE)).toBe(true);
    expect(await workflowRuns.isWithinLimit(three, MINUTE)).toBe(false);
    await workflowRuns.end(three, ['received'], { code: 'too_many', details: { most: 2 } });
    const later = await receive('C1', T0 + 60_000);
    expect(await workflowRuns.isWithinLimit(later, MINUTE)).toBe(true);
  });
});
