import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expire } from '../../src/background.ts';
import { createEntry } from '../../src/core/entry.ts';
import { Secret } from '../../src/core/secret.ts';
import type { HeldPassword } from '../../src/purchases/password-store.ts';
import { showPassword } from '../../src/purchases/passwords.ts';
import { notifyOperation } from '../../src/purchases/pay.ts';
import { newCreate, open, settleCreate, stillSystem, T0 } from '../db/support.ts';
import { makeContext } from '../support/context.ts';
import { triesOf } from '../support/tries.ts';

const PASSWORD = 'hunter2 hunter2';

const callerOf = (userId: string) =>
  ({ actor: { workspaceId: 'T1', userId, channelId: 'C1' }, surface: 'command' }) as const;

const MINUTE = 60_000;

/** A created server whose creator has not acted yet, and a Slack that says ok to every message and shows none. */
async function startCreated(passwordHoldMs: number) {
  let now = T0;
  const system = { ...stillSystem, now: () => now };
  const store = await open('sqlite::memory:', { system });
  await store.workspaces.put({ id: 'T1', name: 'Acme' });
  const settings = { unconfirmedMs: 1, passwordHoldMs, auditKeepDays: undefined };
  const ports = makeContext(store, { system, settings });
  const operation = newCreate('web-1');
  await settleCreate(store, operation, { serverId: 7, password: new Secret(PASSWORD) });
  const entryOf = createEntry(ports);
  const show = async (isTaken = true, whileShown = async () => {}) => {
    let shown: string | undefined;
    const showIt = async ({ password }: HeldPassword) => {
      shown = password.reveal();
      await whileShown();
      return isTaken;
    };
    await entryOf.execute(showPassword, { ref: { typed: 'web-1' }, show: showIt }, callerOf('U1'));
    return shown;
  };
  const steps = {
    deliver: () => notifyOperation(operation.id, ports),
    askInVain: () => show(false),
    expire: () => expire(ports),
    waitAnHour: async () => {
      now += 60 * MINUTE;
    },
    waitAYear: async () => {
      now += 365 * 24 * 60 * MINUTE;
    },
  };
  return {
    steps,
    show,
    ports,
    id: operation.id,
    startHold: store.passwords.startHold,
    wait: (ms: number) => {
      now += ms;
    },
    find: () => store.passwords.find(operation.id),
  };
}

describe('a root password that Slack accepted and no one saw', () => {
  const anyStep = fc.constantFrom('deliver', 'askInVain', 'expire', 'waitAnHour', 'waitAYear' as const);

  test('is still there for its creator, whatever was delivered, however often they asked while Slack refused, and however long ago', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { minLength: 3, maxLength: 12 }),
        fc.constantFrom(0, MINUTE, 60 * MINUTE),
        async (steps, holdMs) => {
          const created = await startCreated(holdMs);
          for (const step of ['deliver', ...steps, 'expire'] as const) await created.steps[step]();
          expect(await created.show()).toBe(PASSWORD);
        },
      ),
      { numRuns: triesOf({ short: 25, long: 1000 }) },
    );
  });

  test.each([
    0,
    1,
    MINUTE,
  ])('is left for a minute after its creator asked to see it, with a limit of %i ms', async (holdMs) => {
    const created = await startCreated(holdMs);
    expect(await created.show()).toBe(PASSWORD);
    created.wait(MINUTE - 1);
    await created.steps.expire();
    expect(await created.show()).toBe(PASSWORD);
    created.wait(1);
    await created.steps.expire();
    expect(await created.find()).toBeUndefined();
  });

  test('has no time limit if the process ends right after Slack’s answer, and one of a minute once it is shown again', async () => {
    const created = await startCreated(0);
    Object.assign(created.ports, { passwords: { ...created.ports.passwords, startHold: dies } });
    await expect(created.show()).rejects.toThrow('SIGKILL');
    expect(await created.find()).toMatchObject({ heldUntil: undefined });
    Object.assign(created.ports, { passwords: { ...created.ports.passwords, startHold: created.startHold } });
    await created.steps.waitAYear();
    await created.steps.expire();
    expect(await created.show()).toBe(PASSWORD);
    expect(await created.find()).toHaveProperty('heldUntil');
  });

  test('stays erased if its creator saves it while it is shown again', async () => {
    const created = await startCreated(MINUTE);
    const save = async () => void (await created.ports.passwords.erase(created.id));
    expect(await created.show(true, save)).toBe(PASSWORD);
    expect(await created.find()).toBeUndefined();
  });
});

const dies = () => Promise.reject(new Error('SIGKILL'));

test('two accounts may each have a server with the same ID: its creator sees their own root password only', async () => {
  const store = await open('sqlite::memory:');
  await store.workspaces.put({ id: 'T1', name: 'Acme' });
  const held = [
    { userId: 'U1', label: 'web-1' },
    // The workspace has connected another account since, whose server 7 is this one.
    { userId: 'U2', label: 'db-1' },
  ];
  for (const { userId, label } of held) {
    const settled = { serverId: 7, password: new Secret(`canary of ${userId}`), isFirstHand: true };
    await settleCreate(store, newCreate(label, { actorId: userId }), settled);
  }
  const entry = createEntry(makeContext(store));
  for (const { userId, label } of held) {
    for (const ref of [{ typed: label }, { typed: '7' }, { id: 7 }]) {
      const shown: string[] = [];
      const show = async ({ password }: HeldPassword) => shown.push(password.reveal()) > 0;
      await entry.execute(showPassword, { ref, show }, callerOf(userId));
      expect(shown).toEqual([`canary of ${userId}`]);
    }
  }
});
