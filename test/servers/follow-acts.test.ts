import { expect, onTestFinished, test } from 'vitest';
import type { AppContext } from '../../src/context.ts';
import { createEntry } from '../../src/core/entry.ts';
import { HostingError } from '../../src/core/errors.ts';
import { Secret } from '../../src/core/secret.ts';
import type { Server } from '../../src/core/server.ts';
import { createShare } from '../../src/hosting/share.ts';
import { watchServer } from '../../src/servers/change-power.ts';
import {
  createFollower,
  FOLLOW_MS,
  type FollowedAct,
  type FollowedServer,
  type StartedAct,
  type Updated,
} from '../../src/servers/follow.ts';
import { followedAnswer, followedMessage } from '../../src/servers/follow-words.ts';
import { open, T0, vault } from '../db/support.ts';
import { handClock, turn } from '../slack/support/fakes.ts';
import { makeContext, makeHosting, wholeList } from '../support/context.ts';

const MESSAGE = { channelId: 'C1', ts: '1.2' };
const ACT: StartedAct = {
  id: 'act-1',
  workspaceId: 'T1',
  action: 'reboot',
  actorId: 'U1',
  channelId: 'C1',
  account: vault.namesOf(new Secret('key'))[0],
};
const SERVER: FollowedServer = {
  serverId: 1,
  label: 'web-1',
  standing: 'waiting',
  hasChanged: true,
  state: 'rebooting',
};
const RUNNING: Server = { id: 1, label: 'web-1', state: 'running' };
const REBOOTING: Server = { ...RUNNING, state: 'rebooting' };

/** A store, a hosting API and a Slack that do as the test says, and a clock that it moves. */
async function openFollowing() {
  const time = { wall: T0 };
  const clock = handClock();
  const system = { ...clock.system, now: () => time.wall };
  const store = await open('sqlite::memory:', { system });
  await store.workspaces.put({ id: 'T1', name: 'Acme' });
  await store.apiKeys.put('T1', new Secret('key'), 'U1', T0);
  const world = {
    servers: [REBOOTING] as readonly Server[] | HostingError,
    isComplete: true,
    reads: 0,
    answer: { kind: 'shown' } as Updated,
    maySee: true,
    whileReading: async () => {},
  };
  const shown: FollowedAct[] = [];
  const told: FollowedAct[] = [];
  const creators: string[] = [];
  const followNotifier: AppContext['followNotifier'] = {
    update: async (act) => {
      if (world.answer.kind === 'shown') shown.push(act);
      return world.answer;
    },
    notifyActor: async (act) => {
      told.push(act);
      return true;
    },
    notifyCreator: async (act) => {
      creators.push(act.actorId);
      return true;
    },
  };
  const fetchServers = createShare(system).reader(2000, async () => {
    world.reads += 1;
    await world.whileReading();
    if (world.servers instanceof HostingError) throw world.servers;
    const list = wholeList(world.servers);
    return world.isComplete ? list : { ...list, extent: 'part' as const };
  });
  const hosting = makeHosting({ fetchServers });
  const ports = makeContext(store, {
    ...{ system, followNotifier, hostingOf: () => hosting },
    ownersOf: () => (world.maySee ? [ACT.actorId] : []),
    users: { find: async () => undefined, exists: async () => 'no' },
  });
  ports.jobs.handle({ follow: createFollower(ports) });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  void ports.jobs.run(stop.signal);
  return {
    ...{ store, world, shown, told, creators, time },
    follow: async (more: Partial<StartedAct> = {}, server: Partial<FollowedServer> = {}) => {
      const times = { now: time.wall, dueAt: time.wall };
      await store.followedActs.add({ ...ACT, ...more }, { ...SERVER, ...server }, times);
      await store.followedActs.place(more.id ?? ACT.id, { message: MESSAGE }, time.wall);
    },
    /** A user's screen waits for the outcome of a reboot that the API has accepted without a state. */
    watch: () =>
      createEntry(ports).execute(
        watchServer,
        { action: 'reboot', change: { server: RUNNING, isUnconfirmed: false } },
        { actor: { workspaceId: 'T1', userId: 'U1' }, surface: 'cli' },
      ),
    /** So many milliseconds pass, with rounds as often as the background starts them. */
    pass: async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 500) {
        time.wall += 500;
        await clock.pass(500);
        for (let turns = 0; turns < 10; turns++) await turn();
      }
    },
    count: async () => (await store.jobStore.list('follow', 'T1')).length,
  };
}

const standings = (acts: readonly FollowedAct[]) =>
  acts.map(({ servers }) => servers.map(({ standing }) => standing));

test('once an act is no longer followed, its message doesn’t say that something is being done to a server', () => {
  const stopped: FollowedServer = { ...SERVER, standing: 'there', state: 'stopped' };
  const actOf = (servers: readonly FollowedServer[], more: Partial<FollowedAct> = {}): FollowedAct => ({
    ...{ ...ACT, action: 'stop', servers, since: T0, lookedAt: T0, passedMs: 5000 },
    ...{ isMeasured: true, told: '', ...more },
  });
  const db: FollowedServer = { ...SERVER, serverId: 2, label: 'db-1', state: 'stopping' };
  expect(followedMessage(actOf([stopped, db])).text).toBe('<@U1> stopped `web-1` and is stopping `db-1`…');
  for (const act of [
    actOf([stopped, db], { passedMs: FOLLOW_MS }),
    ...(['gone', 'unknown', 'superseded'] as const).map((standing) => actOf([stopped, { ...db, standing }])),
  ]) {
    expect(followedMessage(act).text).toBe('<@U1> stopped `web-1` and was stopping `db-1`.');
    expect(followedAnswer(act).text).toBe('You stopped `web-1` and were stopping `db-1`.');
  }
  expect(followedMessage(actOf([db], { passedMs: FOLLOW_MS })).text).toContain('<@U1> was stopping `db-1`. ');
  // It may not have gone down before something else was done to it.
  const superseded = { ...db, standing: 'superseded', state: 'running' } as const;
  const reboots = actOf([superseded, { ...superseded, label: 'db-2' }], { action: 'reboot' });
  expect(followedAnswer(reboots).text).toBe('You were rebooting `db-1`, `db-2`.');
});

test('the creator is told once how to log in, unless they have lost their role meanwhile', async () => {
  for (const maySee of [true, false]) {
    const { world, shown, creators, follow, pass } = await openFollowing();
    Object.assign(world, { maySee, servers: [{ ...RUNNING, ipv4: '198.18.0.1' }] });
    await follow({ action: 'create' });
    await pass(30_000);
    expect(standings(shown)).toEqual([['there']]);
    expect(creators).toEqual(maySee ? ['U1'] : []);
  }
});

test('one list serves all acts of an account', async () => {
  const { world, shown, follow, pass } = await openFollowing();
  for (let id = 1; id <= 50; id++) await follow({ id: `act-${id}` });
  await pass(2000);
  expect(world.reads).toBe(1);
  world.servers = [RUNNING];
  await pass(5000);
  expect(shown.length).toBe(50);
  expect(world.reads).toBeLessThan(5);
});

test('a wall clock that is set hides only how long it took', async () => {
  for (const step of [3_600_000, -3_600_000]) {
    const { world, shown, time, follow, pass } = await openFollowing();
    await follow();
    await pass(10_000);
    time.wall += step;
    await pass(35_000);
    world.servers = [RUNNING];
    await pass(20_000);
    expect(standings(shown)).toEqual([['there']]);
    expect(shown[0]).toMatchObject({ isMeasured: false });
    expect(shown[0]?.passedMs).toBeLessThan(70_000);
  }
});

test('states that come and go are waited out', async () => {
  const { world, shown, follow, pass } = await openFollowing();
  await follow({}, { hasChanged: false, state: 'running' });
  for (const state of ['error', 'rebooting', 'error', 'rebooting']) {
    world.servers = [{ ...RUNNING, state }];
    await pass(4000);
  }
  world.servers = [RUNNING];
  await pass(10_000);
  expect(standings(shown)).toEqual([['there']]);
  expect(shown[0]?.servers[0]?.hasChanged).toBe(true);
});

test('a screen doesn’t call a reboot done while the server may not have gone down yet', async () => {
  const { world, watch, pass } = await openFollowing();
  world.servers = [RUNNING];
  const outcome = watch();
  await pass(5000);
  world.servers = [REBOOTING];
  await pass(15_000);
  world.servers = [RUNNING];
  await pass(15_000);
  expect(await outcome).toMatchObject({ server: { standing: 'there', hasChanged: true } });
  const unseen = watch();
  await pass(20_000);
  expect(await unseen).toMatchObject({ server: { standing: 'there', hasChanged: false } });
});

test('a server that is missing is gone only if the list is complete; while the API is away, nothing is concluded', async () => {
  const { world, shown, follow, pass } = await openFollowing();
  await follow();
  Object.assign(world, { servers: [], isComplete: false });
  await pass(20_000);
  world.servers = new HostingError('no_answer', 'maybe');
  await pass(60_000);
  expect(shown).toEqual([]);
  Object.assign(world, { servers: [], isComplete: true });
  await pass(20_000);
  expect(standings(shown)).toEqual([['gone']]);
});

test('while Slack is away the last state is kept for it, without asking the API again', async () => {
  const { world, shown, follow, pass, count } = await openFollowing();
  await follow();
  world.answer = { kind: 'later', afterMs: 15_000 };
  world.servers = [RUNNING];
  await pass(10_000);
  const { reads } = world;
  await pass(20 * 60_000);
  expect(world.reads).toBe(reads);
  world.answer = { kind: 'shown' };
  await pass(60_000);
  expect(standings(shown)).toEqual([['there']]);
  expect(await count()).toBe(0);
});

test('if the message is gone, the actor gets one message, if they may still see the server', async () => {
  for (const maySee of [true, false]) {
    const { world, told, follow, pass, count } = await openFollowing();
    Object.assign(world, { maySee, answer: { kind: 'gone' }, servers: [RUNNING] });
    await follow();
    await pass(20_000);
    expect(told).toHaveLength(maySee ? 1 : 0);
    expect(await count()).toBe(0);
  }
});

test('after the account was disconnected or another one connected, nothing is looked for, and its user is told so', async () => {
  for (const isConnected of [false, true]) {
    const { store, world, shown, time, follow, pass } = await openFollowing();
    await follow();
    if (isConnected) await store.apiKeys.put('T1', new Secret('other'), 'U1', time.wall);
    else await store.apiKeys.remove('T1');
    await pass(5000);
    expect(world.reads).toBe(0);
    expect(standings(shown)).toEqual([['unknown']]);
    expect(shown.map((act) => followedMessage(act).text)).toEqual([
      '<@U1> was rebooting `web-1`. The hosting account was disconnected or reconnected, so we can no longer follow this action.',
    ]);
  }
});
