import { describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { createJobs, type Job } from '../../src/db/jobs.ts';
import { silentLog } from '../../src/log.ts';
import type { FollowedServer, FollowPayload, StartedAct } from '../../src/servers/follow.ts';
import { engines, stillSystem, T0 } from '../db/support.ts';

const ACT: StartedAct = {
  id: 'act-1',
  workspaceId: 'T1',
  action: 'reboot',
  actorId: 'U1',
  channelId: 'C1',
  account: 'a',
};
const SERVER: FollowedServer = { serverId: 1, label: 'web-1', standing: 'waiting', hasChanged: false };
const MESSAGE = { channelId: 'C1', ts: '1.2' };
const now = T0;

async function follow(
  { followedActs }: Store,
  more: Partial<StartedAct> = {},
  server: Partial<FollowedServer> = {},
) {
  const act = { ...ACT, ...more };
  await followedActs.add(act, { ...SERVER, ...server }, { now, dueAt: now + 60_000 });
  await followedActs.place(act.id, { message: MESSAGE }, now);
}

async function listActs({ jobStore }: Store, workspaceId = 'T1') {
  const acts = await jobStore.list('follow', workspaceId);
  return acts.map(({ key, payload }) => ({ id: key, ...(payload as FollowPayload) }));
}

describe.each(engines)('followed acts, on $name', ({ make }) => {
  test('are kept with their servers, in order, and with the place of their message', async () => {
    const store = await make();
    const { followedActs } = store;
    const times = { now, dueAt: now + 60_000 };
    const second = { ...SERVER, serverId: 2, label: 'web-2', state: 'off' };
    await followedActs.add(ACT, SERVER, times);
    await followedActs.add(ACT, second, times);
    await followedActs.add(ACT, { ...second, state: 'running' }, times);
    const thread = { ts: '1.0', isOpen: true };
    await followedActs.place('act-1', { message: MESSAGE, thread }, now);
    const { workspaceId: _, ...facts } = ACT;
    const start = { since: now, passedMs: 0, isMeasured: true };
    expect(await listActs(store)).toMatchObject([{ ...facts, ...start, thread, servers: [SERVER, second] }]);
    expect(await store.kept.find('message', 'act-1')).toEqual(MESSAGE);
    await followedActs.forget('act-1');
    expect(await listActs(store)).toEqual([]);
  });

  test('are superseded by a later act on the same server, also while a process looks at them', async () => {
    const store = await make();
    await follow(store);
    await follow(store, { id: 'bought', action: 'renew' });
    await follow(store, { id: 'elsewhere', workspaceId: 'T2' });
    const looks: Job[] = [];
    const isSaved: boolean[] = [];
    const handler = async (job: Job) => {
      looks.push(job);
      if (looks.length > 1) return undefined;
      await follow(store, { id: 'act-2', action: 'stop', actorId: 'U2' });
      // What the process has seen doesn't undo it.
      isSaved.push(await store.jobStore.save(job, { ...(job.payload as FollowPayload), servers: [SERVER] }));
      return undefined;
    };
    await createJobs(store.jobStore, stillSystem, silentLog).runNow('follow', 'act-1', handler);
    expect(isSaved).toEqual([false]);
    const acts = [...(await listActs(store)), ...(await listActs(store, 'T2'))];
    const standings = acts.map(({ id, servers }) => [id, servers[0]?.standing]);
    expect(standings.toSorted()).toEqual([
      ['act-1', 'superseded'],
      ['act-2', 'waiting'],
      ['bought', 'waiting'],
      ['elsewhere', 'waiting'],
    ]);
  });
});

const NOTE = { serverId: 1001, label: 'web-1', text: 'billing', notedBy: 'U1', notedAt: T0 };

describe.each(engines)('notes on servers, on $name', ({ make }) => {
  test('are kept for their workspace, one for each server, the last one', async () => {
    const { serverNotes } = await make();
    await serverNotes.put('note', 'T1', { ...NOTE, contact: 'U2' });
    await serverNotes.put('note', 'T1', { ...NOTE, serverId: 1002, label: 'web-2', text: '' });
    await serverNotes.put('note', 'T2', { ...NOTE, text: 'of others' });
    const last = { ...NOTE, text: 'shop', notedBy: 'U4', notedAt: T0 + 1 };
    await serverNotes.put('note', 'T1', last);
    expect(await serverNotes.find('note', 'T1', 1001)).toEqual(last);
    expect(await serverNotes.list('note', 'T1')).toHaveLength(2);
    await serverNotes.remove('note', 'T1', 1001);
    expect(await serverNotes.find('note', 'T1', 1001)).toBeUndefined();
    expect(await serverNotes.find('note', 'T2', 1001)).toMatchObject({ text: 'of others' });
  });
});

test.each(engines)('who has opened Home is known by workspace and user ($name)', async ({ make }) => {
  const { homes } = await make();
  expect(await homes.find('T1', 'U1')).toBeUndefined();
  const last = { channelId: 'D3', page: 3, openedAt: T0 + 1 };
  for (const opened of [{ channelId: 'D1', page: 0, openedAt: T0 }, last])
    await homes.put('T1', 'U1', opened);
  await homes.put('T2', 'U1', { channelId: 'D2', page: 1, openedAt: T0 });
  expect(await homes.find('T1', 'U1')).toEqual(last);
  expect(await homes.find('T1', 'U2')).toBeUndefined();
  expect(await homes.find('T2', 'U1')).toMatchObject({ channelId: 'D2' });
});
