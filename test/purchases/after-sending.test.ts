import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { API_CODES } from '../../src/core/errors.ts';
import { Secret } from '../../src/core/secret.ts';
import { entry, NO_ANSWER, newGrant, T0 } from '../db/fixtures.ts';
import {
  CREATE,
  callerOf,
  decide,
  ID,
  type MortalProcess,
  OTHER_ID,
  openScenario,
  press,
  RENEWAL,
  type Scenario,
  show,
} from './support/scenario.ts';
import { lost, MONTH_MS } from './support/scripted-hosting.ts';

let scenario: Scenario;
let app: MortalProcess;
beforeEach(async () => {
  scenario = await openScenario();
  app = scenario.start();
});
afterEach(() => scenario.close());

/** What another process does half a minute after the request was sent. */
const meanwhile = (act: (at: number) => Promise<unknown>) =>
  scenario.clock.sleep(30_000).then(() => act(scenario.clock.now()));
const giveUp = () =>
  scenario.store.ledger.markUnconfirmed(ID, { reason: NO_ANSWER }, entry({ outcome: 'in_doubt' }));
const settle = (at: number, serverId?: number) =>
  scenario.store.ledger.settle(ID, { at, serverId }, entry({ outcome: 'done' }));

describe('the request', () => {
  test('is committed again before each try', async () => {
    scenario.hosting.script({ kind: 'rate_limited' }, { kind: 'rate_limited' });
    await press(app);
    expect(scenario.hosting.requests.map(({ mayHavePaid }) => mayHavePaid)).toEqual([false, false, true]);
    expect(app.steps.filter((step) => step === 'after commit of sent')).toHaveLength(3);
    expect(await scenario.find()).toMatchObject({ state: 'settled' });
  });

  test.each(
    API_CODES.filter((code) => code !== 'checking'),
  )('that the API refuses with %s ends refused, and is told', async (code) => {
    scenario.hosting.script({ kind: 'refused', code });
    await press(app);
    expect(await scenario.find()).toMatchObject({ state: 'refused', reason: { code, details: {} } });
    expect(scenario.statesTold()).toEqual(['refused']);
    expect(scenario.hosting.charges).toBe(0);
  });

  test.each([
    'no_answer',
    'unreadable_answer',
    'unknown_code',
  ] as const)('that ends in %s is unconfirmed, told, found and never sent again', async (code) => {
    scenario.hosting.script({ kind: 'no_use', code, isDone: true });
    await press(app);
    expect(await scenario.find()).toMatchObject({ state: 'unconfirmed', reason: { code } });
    await scenario.settle(app);
    expect(await scenario.find()).toMatchObject({ state: 'settled', hasPassword: false });
    expect(scenario.statesTold()).toEqual(['unconfirmed', 'settled']);
    expect(scenario.sent()).toBe(1);
  });
});

describe('the answer', () => {
  test('that contradicts the list is kept with its password, however long the store fails', async () => {
    scenario.hosting.script({ kind: 'answers', id: 1 });
    const at = 'before commit of unconfirmed';
    await press(scenario.start({ kind: 'database_fails', at, forMs: 10 * 60_000 })).catch(() => undefined);
    expect(await scenario.find()).toMatchObject({ state: 'unconfirmed', reason: { code: 'contradiction' } });
    await scenario.pass(app, 120_000);
    expect((await scenario.store.passwords.find(ID))?.password.reveal()).toContain('root-101');
  });

  const UNCLEAR = 'No root password was recognized. The hosting API answered:\n{"pw":"x"}';

  test('that proves nothing is settled from the list before anything is told, and kept for its creator', async () => {
    scenario.hosting.script({ kind: 'unclear', sealedAnswer: new Secret('{"pw":"x"}') });
    await press(app);
    expect(await scenario.find()).toMatchObject({ state: 'settled', hasPassword: true });
    expect(scenario.told.at(-1)).toMatchObject({ password: UNCLEAR });
    expect(scenario.statesTold()).toEqual(['settled']);
  });

  test.each([
    ['unconfirmed', async () => undefined],
    ['settled from the list', (at: number) => settle(at, 101)],
    ['settled by a manager, without a server', (at: number) => settle(at)],
  ])('that proves nothing and comes after the order was %s is kept for its creator', async (_, end) => {
    scenario.hosting.script({ kind: 'unclear', sealedAnswer: new Secret('{"pw":"x"}'), afterMs: 60_000 });
    const ended = meanwhile(async (at) => {
      await giveUp();
      await end(at);
    });
    await press(app);
    await ended;
    await scenario.pass(app, 2 * 3_600_000);
    expect(await scenario.find()).toMatchObject({ state: 'settled', hasPassword: true });
    expect((await scenario.store.passwords.find(ID))?.password.reveal()).toBe(UNCLEAR);
    expect(scenario.hosting.charges).toBe(1);
  });

  test('that proves nothing is kept for its creator, also if a manager says later that it was done in another account', async () => {
    scenario.hosting.script({ kind: 'unclear', sealedAnswer: new Secret('{"pw":"x"}'), afterMs: 30_000 });
    const { apiKeys } = scenario.store;
    const replaced = scenario.clock
      .sleep(10_000)
      .then(() => apiKeys.put('T1', new Secret('other'), 'U1', T0));
    await press(app);
    await replaced;
    // A manager who looks too early could close an order that is carried out a moment later.
    await scenario.pass(app, 20_000);
    expect(await scenario.find()).toMatchObject({ state: 'unconfirmed', needsDecision: false });
    await scenario.pass(app, 60_000);
    await decide(app, { isDoneElsewhere: true });
    await scenario.settle(app);
    expect(await scenario.find()).toMatchObject({ state: 'settled', serverId: undefined });
    expect(scenario.told.at(-1)).toMatchObject({ password: UNCLEAR });
    expect(await show(app)).toBe(UNCLEAR);
  });

  test('that proves that nothing was done ends an order that another process has given up', async () => {
    scenario.hosting.script({ kind: 'rate_limited', waitMs: 60_000 });
    const ended = meanwhile(giveUp);
    await press(app);
    await ended;
    expect(await scenario.find()).toMatchObject({ state: 'refused', reason: { code: 'stale_confirmation' } });
    expect([scenario.sent(), scenario.hosting.charges]).toEqual([1, 0]);
    expect(scenario.statesTold()).toEqual(['refused']);
  });

  test('that comes after another process has settled the order from the list brings its password', async () => {
    scenario.hosting.script({ kind: 'late', afterMs: 60_000 });
    const found = meanwhile((at) => settle(at, 101));
    await press(app);
    await found;
    expect(await scenario.find()).toMatchObject({ state: 'settled', hasPassword: true });
    expect(scenario.told.at(-1)).toMatchObject({ password: 'root-101' });
    expect(scenario.hosting.charges).toBe(1);
  });
});

describe('an unconfirmed order', () => {
  test('is left to a manager if what appears may be of an earlier order of its label that a manager has ended', async () => {
    scenario.hosting.script({ kind: 'checking', isDone: true, afterMs: 3 * 3_600_000 });
    await press(app);
    await scenario.settle(app);
    await decide(app, {});
    scenario.hosting.script(lost(false));
    await press(app, CREATE, { id: OTHER_ID });
    await scenario.pass(app, 6 * 3_600_000);
    expect(await scenario.find(OTHER_ID)).toMatchObject({ state: 'unconfirmed', needsDecision: true });
    expect(await scenario.find()).toMatchObject({ state: 'refused' });
  });

  test('is not claimed by an earlier order of its label that a manager has ended', async () => {
    scenario.hosting.script(lost(false));
    await press(app);
    await scenario.settle(app);
    await decide(app, {});
    await press(app, CREATE, { id: OTHER_ID });
    expect(await scenario.find(OTHER_ID)).toMatchObject({ state: 'settled', serverId: 101 });
    await scenario.pass(app, 24 * 3_600_000);
    expect(await scenario.find()).toMatchObject({ state: 'refused' });
  });

  test('is left to a manager sooner, and is not ended, if the clock is set back by half an hour', async () => {
    scenario.hosting.script(lost(false));
    await press(app);
    scenario.clock.step(-31 * 60_000);
    await scenario.pass(app, 30_000);
    expect(await scenario.find()).toMatchObject({ state: 'unconfirmed', needsDecision: true });
  });

  test('is not judged by an incomplete list, comes to a manager, and is reported when a whole list shows it', async () => {
    scenario.hosting.script(lost(true));
    await press(app);
    scenario.hosting.isListComplete = false;
    await scenario.settle(app);
    // Not `not_found_yet`: it may be in the rest of the list.
    const reason = { code: 'no_answer', details: {} };
    expect(await scenario.find()).toMatchObject({ state: 'unconfirmed', needsDecision: true, reason });
    scenario.hosting.isListComplete = true;
    await scenario.pass(app, 3_600_000);
    expect(await scenario.find()).toMatchObject({ state: 'settled', serverId: 101, isLate: false });
    expect(scenario.statesTold()).toEqual(['unconfirmed', 'unconfirmed', 'settled']);
  });

  test('whose answer names a server that was there before needs a decision, and nothing is claimed', async () => {
    scenario.hosting.script({ kind: 'answers', id: 1 });
    await press(app);
    const reason = { code: 'contradiction', details: {} };
    expect(await scenario.find()).toMatchObject({ state: 'unconfirmed', needsDecision: true, reason });
    expect(await scenario.store.passwords.find(ID)).toBeUndefined();
    await scenario.pass(app, 120_000);
    expect(await scenario.find()).toMatchObject({ state: 'settled', serverId: 101, hasPassword: true });
    expect((await scenario.store.passwords.find(ID))?.password.reveal()).toContain('root-101');
  });

  test('whose renewal was answered with a date that has not moved is unconfirmed until it has', async () => {
    scenario.hosting.script({ kind: 'answers', id: 1, paidUntil: RENEWAL.paidUntil });
    await press(app, RENEWAL);
    expect(await scenario.find()).toMatchObject({
      state: 'unconfirmed',
      reason: { code: 'unreadable_answer' },
    });
    await scenario.settle(app);
    expect(await scenario.find()).toMatchObject({
      state: 'settled',
      paidUntil: RENEWAL.paidUntil + MONTH_MS,
    });
  });

  test('is decided once, and only by a server that may be the one', async () => {
    scenario.hosting.script({ kind: 'ambiguous', isOurs: true });
    await press(app);
    await scenario.settle(app);
    await expect(decide(app, { serverId: 1 })).rejects.toMatchObject({ code: 'unknown_server' });
    await decide(app, { serverId: 101 });
    await expect(decide(app, {})).rejects.toMatchObject({ code: 'doubt_over' });
    expect(await scenario.find()).toMatchObject({ state: 'settled', serverId: 101, hasPassword: false });
    await scenario.settle(app);
    // What "Ready: ssh root@…" would say of this server isn't proven to be about this order.
    expect(await scenario.store.jobStore.list('follow', 'T1')).toEqual([]);
  });

  test.each([
    ['the server that the list proves', { serverId: 101 }],
    ['that nothing was created', {}],
  ])('that a whole list proves by now needs no decision: a manager who says %s is told that it was resolved', async (_, seen) => {
    scenario.hosting.script(lost(true));
    await press(app);
    scenario.hosting.isListComplete = false;
    await scenario.settle(app);
    scenario.hosting.isListComplete = true;
    await expect(decide(app, seen)).rejects.toMatchObject({ code: 'doubt_over' });
    expect(await scenario.find()).toMatchObject({ state: 'settled', serverId: 101, decidedBy: undefined });
  });

  test.each([
    ['a manager of other servers', 'role_needed', callerOf('U9')],
    ['a manager of another workspace', 'doubt_over', callerOf('U2', 'T2')],
  ])('is not decided by %s', async (_who, code, caller) => {
    await scenario.store.workspaces.put({ id: 'T2', name: 'Other' });
    await scenario.store.grants.put(newGrant({ subjectId: 'U9', role: 'manager', pattern: 'db-*' }));
    scenario.hosting.script({ kind: 'ambiguous', isOurs: false });
    await press(app);
    await scenario.settle(app);
    await expect(decide(app, {}, caller)).rejects.toMatchObject({ code });
    expect(await scenario.find()).toMatchObject({ state: 'unconfirmed', needsDecision: true });
  });
});

describe('the root password', () => {
  test('is reported by the next process if its process crashed after it was stored', async () => {
    await press(scenario.start({ kind: 'killed', at: 'after commit of settled' }));
    expect(scenario.told).toEqual([]);
    await scenario.settle(app);
    expect(scenario.told).toMatchObject([{ password: 'root-101' }]);
  });

  test('is not reported twice', async () => {
    await press(app);
    await scenario.pass(app, 10 * 60_000);
    expect(scenario.told).toHaveLength(1);
  });
});
