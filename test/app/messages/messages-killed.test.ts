import { describe, expect, test } from 'vitest';
import { createEntry } from '../../../src/app/authorize/entry.ts';
import { createMessageIntake } from '../../../src/app/messages/receive-message.ts';
import { sweepMessages } from '../../../src/app/messages/sweep-messages.ts';
import type { AppPorts, Store } from '../../../src/app/ports.ts';
import { changePower } from '../../../src/app/servers/change-power.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { Server } from '../../../src/domain/server.ts';
import { MINUTE_MS } from '../../../src/domain/time.ts';
import { engines, newGrant, stillSystem, T0 } from '../../store/support.ts';
import { killedAt } from '../support/killed-at.ts';
import { makeHosting, wholeList } from '../support/make-hosting.ts';
import { makePorts } from '../support/make-ports.ts';

const WEB: Server = { id: 1, label: 'web-1', state: 'stopped' };
const PATIENCE = { timeout: 120_000 };
/** Everything that is written and sent for one command, each before and after. */
const LEAST_STEPS = 14;

type Told = Parameters<AppPorts['messageNotifier']['tellInterrupted']>[0];

/** What outlives the processes, about one command. */
interface World {
  readonly store: Store;
  readonly ts: string;
  readonly told: Told[];
  now: number;
  started: number;
  answers: number;
}

let made = 0;

async function openWorld(store: Store): Promise<World> {
  if (made === 0 || !(await store.workspaces.find('T1'))) {
    await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
    await store.apiKeys.put('T1', new Secret('key'), 'U1', T0);
    await store.grants.put(newGrant({ subjectId: 'U1', role: 'operator' }));
  }
  made += 1;
  return { store, ts: `1.${made}`, told: [], now: T0, started: 0, answers: 0 };
}

function startProcess(world: World, at = 0) {
  const life = killedAt(at);
  const { store } = world;
  const hosting = makeHosting({
    fetchServers: async () => wholeList([WEB]),
    changePower: async (_action, id) => {
      world.started += 1;
      return { id, state: 'running' };
    },
  });
  const messageNotifier: AppPorts['messageNotifier'] = {
    tellInterrupted: async (command) => {
      world.told.push(command);
      return 'told';
    },
  };
  const ports = makePorts(
    {
      ...store,
      messageCommands: life.watch('messageCommands', store.messageCommands),
      seenRequests: life.watch('seenRequests', store.seenRequests),
      audit: life.watch('audit', store.audit),
      followedActs: life.watch('followedActs', store.followedActs),
    },
    {
      system: { ...stillSystem, now: () => world.now },
      hostingOf: () => life.watch('hosting', hosting),
      messageNotifier: life.watch('messageNotifier', messageNotifier),
    },
  );
  const entry = createEntry(ports);
  const slack = life.watch('slack', {
    answer: async () => {
      world.answers += 1;
    },
  });
  const actor = { workspaceId: 'T1', userId: 'U1', channelId: 'C1' };
  const command = { id: `M${world.ts}`, ...actor, kind: 'mention', name: 'start' } as const;
  return {
    ...life,
    /** A delivery of the message. */
    deliver: (eventId = 'Ev1') =>
      life.run(async () => {
        const intake = createMessageIntake(ports);
        const run = await intake.receive(command, [`message ${world.ts}`, `${eventId} ${world.ts}`]);
        await run?.(async (onChange) => {
          const caller = { actor, surface: 'mention', requestId: command.id, onChange } as const;
          await entry.execute(changePower.start, { ref: { typed: 'web-1' } }, caller);
          await slack.answer();
        });
      }),
    sweep: () => life.run(() => sweepMessages(entry, ports)),
  };
}

/** Lets so much time pass that what a dead process left is due, and a living one looks. */
async function sweepLater(world: World, at = 0) {
  world.now += MINUTE_MS;
  const process = startProcess(world, at);
  await process.sweep();
  return process;
}

function checkLaws(world: World, where: string): void {
  const { told, started, answers } = world;
  expect(started, `${where}: started`).toBeLessThanOrEqual(1);
  expect(told.length, `${where}: told`).toBeLessThanOrEqual(1);
  const [only] = told;
  // Only proof is told as fact.
  if (only && !only.hasBegun) expect([started, answers], `${where}: nothing was done`).toEqual([0, 0]);
  if (only?.hasBegun) expect(only.servers, where).toEqual([{ id: 1, label: 'web-1' }]);
}

describe.each(engines)('a command in a message, on $name', PATIENCE, ({ make }) => {
  test('that is answered is told nothing more', async () => {
    const world = await openWorld(await make());
    const process = startProcess(world);
    await process.deliver();
    expect(process.steps.length).toBeGreaterThanOrEqual(LEAST_STEPS);
    await sweepLater(world);
    expect([world.started, world.answers, world.told]).toEqual([1, 1, []]);
  });

  test('whose process is killed at any step is told once that it was interrupted, and never carried out again', async () => {
    const store = await make();
    for (let at = 1; ; at++) {
      const world = await openWorld(store);
      const killed = startProcess(world, at);
      await killed.deliver();
      if (!killed.isDead()) break;
      const where = `killed at ${at} (${killed.steps.at(-1)})`;
      // Until the lease ends, the process might live.
      await startProcess(world).sweep();
      expect(world.told, where).toEqual([]);
      await sweepLater(world);
      await Promise.all([sweepLater(world), sweepLater(world)]);
      // Whatever Slack delivers again, and as whatever event.
      const isKnown = at > 1;
      for (const eventId of isKnown ? ['Ev1', 'Ev2'] : []) await startProcess(world).deliver(eventId);
      await sweepLater(world);
      checkLaws(world, where);
      const isHeard = world.told.length > 0 || world.answers > 0;
      expect(isHeard, where).toBe(isKnown);
    }
  });

  test.each([
    ['has not begun', 'after messageCommands.receive', false],
    ['may have been carried out', 'before hosting.changePower', true],
  ])('that %s is told at most once by sweeping processes that are killed, too', async (_, diesAt, hasBegun) => {
    const store = await make();
    const sound = startProcess(await openWorld(store));
    await sound.deliver();
    const at = 1 + sound.steps.indexOf(diesAt);
    expect(at).toBeGreaterThan(0);
    for (let sweptAt = 1; ; sweptAt++) {
      const world = await openWorld(store);
      await startProcess(world, at).deliver();
      const sweeping = await sweepLater(world, sweptAt);
      for (let times = 0; times < 3; times++) await sweepLater(world);
      checkLaws(world, `swept until ${sweptAt} (${sweeping.steps.at(-1)})`);
      if (!sweeping.isDead()) {
        expect(world.told).toMatchObject([{ hasBegun, name: 'start', kind: 'mention', channelId: 'C1' }]);
        break;
      }
    }
  });

  test('is told once by two processes that sweep at once', async () => {
    const store = await make();
    for (let times = 0; times < 5; times++) {
      const world = await openWorld(store);
      await startProcess(world, 2).deliver();
      world.now += MINUTE_MS;
      await Promise.all([1, 2, 3].map(() => startProcess(world).sweep()));
      expect(world.told).toHaveLength(1);
    }
  });
});
