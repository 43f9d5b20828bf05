import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createEntry } from '../../../src/app/authorize/entry.ts';
import type { NewMessageCommand } from '../../../src/app/messages/ports.ts';
import { createMessageIntake } from '../../../src/app/messages/receive-message.ts';
import { sweepMessages } from '../../../src/app/messages/sweep-messages.ts';
import type { AppPorts, Store } from '../../../src/app/ports.ts';
import { sweep } from '../../../src/app/sweep.ts';
import { DatabaseUnreachable } from '../../../src/domain/database-unreachable.ts';
import { DAY_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { newGrant, stillSystem, T0, vault } from '../../store/fixtures.ts';
import { makePorts } from '../support/make-ports.ts';

const SERVER = { id: 1, label: 'web-1' };
const COMMAND: NewMessageCommand = {
  ...{ id: 'M1', workspaceId: 'T1', userId: 'U1', channelId: 'C1' },
  kind: 'mention',
  name: 'reboot',
};

type Notifier = AppPorts['messageNotifier'];

let store: Store;
let now: number;
let told: Parameters<Notifier['tellInterrupted']>[0][];
let answer: Awaited<ReturnType<Notifier['tellInterrupted']>>;
let died: (reason: Error) => void = () => undefined;
beforeEach(async () => {
  store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system: stillSystem });
  [now, told, answer] = [T0, [], 'told'];
  await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
  await store.grants.put(newGrant({ subjectId: 'U1', role: 'operator' }));
});
afterEach(() => store.close());

function startProcess(more: Partial<AppPorts> = {}) {
  const messageNotifier: Notifier = {
    tellInterrupted: async (command) => {
      told.push(command);
      return answer;
    },
  };
  const ports = makePorts(store, {
    system: { ...stillSystem, now: () => now },
    messageNotifier,
    users: { find: async () => undefined, exists: async () => 'hidden' },
    ...more,
  });
  const entry = createEntry(ports);
  return {
    intake: createMessageIntake(ports),
    sweep: () => sweepMessages(entry, ports),
    expire: () => sweep(ports),
  };
}

/** A command whose process is gone by now; it was about to change the server, unless nothing had begun. */
async function leaveCommand(more: Partial<NewMessageCommand> = {}, hasBegun = true): Promise<void> {
  const times = { now: T0, dueAt: T0, keptFrom: T0 };
  await store.messageCommands.receive({ ...COMMAND, ...more }, ['Ev1'], times);
  if (hasBegun) await store.messageCommands.begin(COMMAND, [SERVER], T0);
}

const left = () => store.messageCommands.listDue(Number.MAX_SAFE_INTEGER, 10);

test('a frozen process changes nothing after its user was told that nothing was done', async () => {
  let wake: () => void = () => undefined;
  const stalled = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const run = await startProcess().intake.receive(COMMAND, ['Ev1']);
  let changed = 0;
  const working = run?.(async (onChange) => {
    await stalled;
    await onChange(SERVER);
    changed += 1;
  });
  now += MINUTE_MS;
  await startProcess().sweep();
  expect(told).toMatchObject([{ hasBegun: false, servers: [] }]);
  wake();
  await expect(working).rejects.toMatchObject({ code: 'held_up' });
  expect(changed).toBe(0);
});

test('a process that continues just before its user is told keeps the command', async () => {
  const run = await startProcess().intake.receive(COMMAND, ['Ev1']);
  let change: () => Promise<void> = async () => undefined;
  const working = run?.(
    (onChange) =>
      new Promise((_, reject) => {
        change = () => onChange(SERVER);
        died = reject;
      }),
  );
  now += MINUTE_MS;
  // It goes on when the sweep has read what it tells, and is lost again before the sweep goes on.
  const isServed = async () => {
    await change();
    change = async () => undefined;
    now += MINUTE_MS;
    return true;
  };
  const sweeping = startProcess({ installations: { isServed } });
  await sweeping.sweep();
  expect(told).toEqual([]);
  await sweeping.sweep();
  expect(told).toMatchObject([{ hasBegun: true, servers: [SERVER] }]);
  died(new Error('the process is gone'));
  await expect(working).rejects.toThrow('gone');
});

test('an answered command is not reported as interrupted, even if the database was away when it was answered', async () => {
  const remove = vi.fn(store.messageCommands.remove);
  for (let times = 0; times < 3; times++)
    remove.mockRejectedValueOnce(new DatabaseUnreachable(new Error('the network')));
  const sleep = (ms: number, signal?: AbortSignal) =>
    ms < 10_000 ? Promise.resolve() : stillSystem.sleep(ms, signal);
  const process = startProcess({
    system: { ...stillSystem, now: () => now, sleep },
    messageCommands: { ...store.messageCommands, remove },
  });
  const run = await process.intake.receive(COMMAND, ['Ev1']);
  await run?.(async (onChange) => onChange(SERVER));
  now += MINUTE_MS;
  await startProcess().sweep();
  expect(told).toEqual([]);
  expect(await left()).toEqual([]);
});

test('a command that takes long is left to its process while that is running', async () => {
  const sleeps: (() => void)[] = [];
  const system = {
    ...stillSystem,
    now: () => now,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const stop = () => reject(signal?.reason);
        signal?.addEventListener('abort', stop, { once: true });
        sleeps.push(() => {
          signal?.removeEventListener('abort', stop);
          resolve();
        });
      }),
  };
  const run = await startProcess({ system }).intake.receive(COMMAND, ['Ev1']);
  let finish: () => void = () => undefined;
  const working = run?.(() => new Promise((resolve) => (finish = resolve)));
  for (let times = 0; times < 30; times++) {
    now += 10_000;
    sleeps.shift()?.();
    await expect.poll(() => sleeps.length).toBe(1);
    await startProcess().sweep();
  }
  expect(told).toEqual([]);
  finish();
  await working;
  expect(await left()).toEqual([]);
});

test('a message that Slack refuses is retried at growing intervals, and given up after a day', async () => {
  await leaveCommand();
  answer = 'later';
  const process = startProcess();
  const times: number[] = [];
  while (now < T0 + DAY_MS) {
    const before = told.length;
    await process.sweep();
    if (told.length > before) times.push(now - T0);
    now += 5000;
  }
  expect(times.slice(0, 3)).toEqual([0, 5000, 10_000]);
  expect(times.length).toBeLessThan(200);
  now += 1;
  await process.expire();
  expect(await left()).toEqual([]);
  answer = 'told';
  await process.sweep();
  expect(told).toHaveLength(times.length);
});

test('a message that Slack accepts in the end is not sent again', async () => {
  await leaveCommand();
  answer = 'later';
  await startProcess().sweep();
  answer = 'told';
  for (let times = 0; times < 5; times++) {
    now += MINUTE_MS;
    await startProcess().sweep();
  }
  expect(told).toHaveLength(2);
  expect(await left()).toEqual([]);
});

test('servers are named only to a user who may still see them', async () => {
  await leaveCommand();
  await store.grants.removeAll('T1', { subjectKind: 'user', subjectId: 'U1' });
  await startProcess().sweep();
  expect(told).toMatchObject([{ hasBegun: true, servers: [] }]);
});

test('a user whose roles Slack can’t confirm is told once it can', async () => {
  await leaveCommand();
  await store.grants.removeAll('T1', { subjectKind: 'user', subjectId: 'U1' });
  await startProcess({ users: { find: async () => undefined, exists: async () => 'unknown' } }).sweep();
  expect(told).toEqual([]);
  now += MINUTE_MS;
  await startProcess().sweep();
  expect(told).toHaveLength(1);
});

test.each([
  ['belongs to another organization is told nothing', { isStranger: true, teamIds: ['T2'] }, 0],
  [
    'is a member from another workspace of the organization is told',
    { isStranger: false, teamIds: ['T1'] },
    1,
  ],
])('a user who %s', async (_, more, times) => {
  await leaveCommand({ homeTeamId: 'T2' }, false);
  const user = { isAdmin: false, isGuest: false, isBot: false, isDeactivated: false, ...more };
  await startProcess({ users: { find: async () => user, exists: async () => 'yes' } }).sweep();
  expect(told).toHaveLength(times);
  expect(await left()).toEqual([]);
});

test('nobody is told where the app was uninstalled', async () => {
  await leaveCommand();
  const installations = { isServed: async () => false };
  await startProcess({ installations }).sweep();
  expect(told).toEqual([]);
  expect(await left()).toEqual([]);
});

test('a user who may have been told is not told again', async () => {
  await leaveCommand();
  await store.messageCommands.claim({ ...COMMAND, dueAt: T0 }, T0);
  await startProcess().sweep();
  expect(told).toEqual([]);
  expect(await left()).toEqual([]);
});
