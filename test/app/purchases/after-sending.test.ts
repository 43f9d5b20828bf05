import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runOperation } from '../../../src/app/purchases/run-operation.ts';
import { API_CODES } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { entry, T0 } from '../../store/fixtures.ts';
import type { MortalProcess } from './support/mortal-process.ts';
import { decide, ID, openScenario, press, type Scenario, save, show } from './support/scenario.ts';
import type { Script } from './support/scripted-hosting.ts';

const KILLED_UNSENT = { kind: 'killed', at: 'after ledger.prepare' } as const;
const lost = (isDone: boolean): Script => ({ kind: 'no_use', code: 'no_answer', isDone });

let scenario: Scenario;
let app: MortalProcess;
beforeEach(async () => {
  scenario = await openScenario();
  app = scenario.start();
});
afterEach(() => scenario.close());

const find = (id = ID) => scenario.store.ledger.find(id);
const isOver = async () => {
  const operation = await find();
  return operation?.notifiedAt !== undefined && (operation.endedAt !== undefined || operation.needsDecision);
};
const settle = (process = app) => process.runBackground(isOver);
const statesTold = () => scenario.told.map(({ operation }) => operation.state);
const sent = () => scenario.hosting.requests.length;

describe('the request', () => {
  test('is sent only by the owner of the lease', async () => {
    await press(scenario.start(KILLED_UNSENT));
    await scenario.store.ledger.lease(ID, { owner: 'another', now: T0, until: T0 + 1000 });
    await app.run(runOperation(ID, app.ports));
    expect(sent()).toBe(0);
  });

  test('is committed again before each try', async () => {
    scenario.hosting.script({ kind: 'rate_limited' }, { kind: 'rate_limited' });
    await press(app);
    expect(scenario.hosting.requests.map(({ mayHavePaid }) => mayHavePaid)).toEqual([false, false, true]);
    expect(app.steps.filter((step) => step === 'after ledger.markSent')).toHaveLength(3);
    expect(await find()).toMatchObject({ state: 'settled' });
  });

  test.each(
    API_CODES.filter((code) => code !== 'checking'),
  )('that the API refuses with %s ends refused, and is told', async (code) => {
    scenario.hosting.script({ kind: 'refused', code });
    await press(app);
    expect(await find()).toMatchObject({ state: 'refused', reason: { code, details: {} } });
    expect(statesTold()).toEqual(['refused']);
    expect(scenario.hosting.charges).toBe(0);
  });

  test.each([
    'no_answer',
    'unreadable_answer',
    'unknown_code',
  ] as const)('that ends in %s is unconfirmed, told, found and never sent again', async (code) => {
    scenario.hosting.script({ kind: 'no_use', code, isDone: true });
    await press(app);
    expect(await find()).toMatchObject({ state: 'unconfirmed', reason: { code } });
    await settle();
    expect(await find()).toMatchObject({ state: 'settled', hasPassword: false });
    expect(statesTold()).toEqual(['unconfirmed', 'settled']);
    expect(sent()).toBe(1);
  });

  test('that the supplier has not confirmed is unconfirmed until the server is there', async () => {
    scenario.hosting.script({ kind: 'checking', isDone: true, afterMs: 30_000 });
    await press(app);
    expect(await find()).toMatchObject({ state: 'unconfirmed', reason: { code: 'checking' } });
    await settle();
    expect(await find()).toMatchObject({ state: 'settled' });
  });

  test('is not sent when it is not known whether it was committed, and is looked for', async () => {
    await press(scenario.start({ kind: 'store_fails', at: 'after ledger.markSent', forMs: 0 }));
    expect(await find()).toMatchObject({ state: 'unconfirmed', reason: { code: 'defect' } });
    expect(sent()).toBe(0);
    await settle();
    expect(await find()).toMatchObject({ state: 'refused', reason: { code: 'not_done' } });
  });

  test('is not sent when it could not be committed, and the order is refused', async () => {
    await press(scenario.start({ kind: 'store_fails', at: 'before ledger.markSent', forMs: 0 }));
    expect(await find()).toMatchObject({ state: 'refused', reason: { code: 'defect' } });
    expect(sent()).toBe(0);
  });

  test('that was sent by a process that died is unconfirmed, told and looked for', async () => {
    await press(scenario.start({ kind: 'killed', at: 'after ledger.markSent' }));
    await app.runBackground(async () => (await find())?.notifiedAt !== undefined);
    expect(await find()).toMatchObject({ state: 'unconfirmed', reason: { code: 'no_answer' } });
    await settle();
    expect(statesTold()).toEqual(['unconfirmed', 'refused']);
    expect(sent()).toBe(0);
  });
});

describe('the answer', () => {
  test('is stored however long the store fails, as long as the process lives', async () => {
    await press(
      scenario.start({ kind: 'store_fails', at: 'before ledger.settle', forMs: 10 * 60_000 }),
    ).catch(() => undefined);
    expect(await find()).toMatchObject({ state: 'settled', hasPassword: true });
    expect((await scenario.store.passwords.find(ID))?.password.reveal()).toBe('root-101');
  });

  test('that comes after another process has settled the order from the list brings its password', async () => {
    scenario.hosting.script({ kind: 'late', afterMs: 60_000 });
    const found = scenario.clock.sleep(30_000).then(async () => {
      const at = scenario.clock.now();
      await scenario.store.ledger.settle(ID, { at, serverId: 101 }, entry({ outcome: 'done' }));
    });
    await press(app);
    await found;
    expect(await find()).toMatchObject({ state: 'settled', hasPassword: true });
    expect(scenario.told.at(-1)).toMatchObject({ password: 'root-101' });
    expect(scenario.hosting.charges).toBe(1);
  });
});

describe('an unconfirmed order', () => {
  test('that has not appeared by the end of the waiting time is refused without proof', async () => {
    scenario.hosting.script(lost(false));
    await press(app);
    await settle();
    expect(await find()).toMatchObject({ state: 'refused', reason: { code: 'not_done' } });
    expect(statesTold()).toEqual(['unconfirmed', 'refused']);
  });

  test('is left alone while the servers can’t be listed', async () => {
    scenario.hosting.script(lost(true));
    await press(app);
    await scenario.store.apiKeys.remove('T1');
    await scenario.clock.pass(5 * 60_000);
    await expect(settle()).rejects.toThrow('never comes to an end');
    expect(await find()).toMatchObject({ state: 'unconfirmed', needsDecision: false });
  });

  test('is left to a manager when the account was reconnected since', async () => {
    scenario.hosting.script(lost(true));
    await press(app);
    await scenario.store.apiKeys.put('T1', new Secret('another key'), 'U1', scenario.clock.now());
    await settle();
    const reason = { code: 'account_changed', details: {} };
    expect(await find()).toMatchObject({ state: 'unconfirmed', needsDecision: true, reason });
    await decide(app, { isDoneElsewhere: true });
    const operation = await find();
    expect(operation).toMatchObject({ state: 'settled', hasPassword: false });
    expect(operation).not.toHaveProperty('serverId');
  });

  test('that a manager decides was not done says so, and nothing more is sent', async () => {
    scenario.hosting.script({ kind: 'ambiguous', isOurs: false });
    await press(app);
    await settle();
    expect(await find()).toMatchObject({ state: 'unconfirmed', needsDecision: true });
    await decide(app, {});
    expect(await find()).toMatchObject({ state: 'refused', reason: { code: 'decided_not_done' } });
    expect(statesTold()).toEqual(['unconfirmed', 'unconfirmed', 'refused']);
    expect(sent()).toBe(1);
  });

  test('that a manager decides was done becomes the server that they chose', async () => {
    scenario.hosting.script({ kind: 'ambiguous', isOurs: true });
    await press(app);
    await settle();
    await decide(app, { serverId: 101 });
    expect(await find()).toMatchObject({ state: 'settled', serverId: 101, hasPassword: false });
  });

  test('is decided once, and only by a server that may be the one', async () => {
    scenario.hosting.script({ kind: 'ambiguous', isOurs: true });
    await press(app);
    await settle();
    await expect(decide(app, { serverId: 1 })).rejects.toMatchObject({ code: 'unknown_server' });
    await decide(app, { serverId: 101 });
    await expect(decide(app, {})).rejects.toMatchObject({ code: 'doubt_over' });
    expect(await find()).toMatchObject({ state: 'settled' });
  });
});

describe('the root password', () => {
  test('comes with the outcome, to the user who ordered', async () => {
    await press(app);
    expect(scenario.told).toMatchObject([{ operation: { actorId: 'U1' }, password: 'root-101' }]);
  });

  test('is shown again until it is saved, and only to its creator', async () => {
    await press(app);
    expect(await show(app)).toBe('root-101');
    expect(await show(app)).toBe('root-101');
    await expect(show(app, 'U2')).rejects.toMatchObject({ code: 'not_creator' });
    await save(app);
    await expect(show(app)).rejects.toMatchObject({ code: 'no_password' });
  });

  test('is told by the next process when its process died after it was stored', async () => {
    await press(scenario.start({ kind: 'killed', at: 'after ledger.settle' }));
    expect(scenario.told).toEqual([]);
    await settle();
    expect(scenario.told).toMatchObject([{ password: 'root-101' }]);
  });

  test('is not told again once it was told', async () => {
    await press(app);
    await app.runBackground(async () => scenario.clock.now() > T0 + 10 * 60_000);
    expect(scenario.told).toHaveLength(1);
  });
});
