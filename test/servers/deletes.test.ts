import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import type { Server } from '../../src/core/server.ts';
import { DEFAULT_SETTINGS } from '../../src/core/settings.ts';
import { confirmDelete } from '../../src/servers/delete.ts';
import { leaseOperation, newGrant, sentBy, T0 } from '../db/fixtures.ts';
import {
  callerOf,
  ID,
  type MortalProcess,
  openScenario,
  RENEWAL,
  type Scenario,
} from '../purchases/support/scenario.ts';
import { lost } from '../purchases/support/scripted-hosting.ts';
import {
  arrangeDelete,
  findDelete,
  goOn,
  pressDelete,
  WAYS,
  type Way,
} from '../purchases/support/stories.ts';

const MINUTE_MS = 60_000;
const { paidUntil } = RENEWAL;
const DB: Server = { id: 1, label: 'db-1', state: 'running', paidUntil };

let scenario: Scenario;
beforeEach(async () => {
  scenario = await openScenario();
});
afterEach(() => scenario.close());

/** A delete whose process is killed there, the first time. */
async function killedAt(at: string, way: Way): Promise<void> {
  await arrangeDelete(way, scenario);
  const first = scenario.start({ kind: 'killed', at });
  await pressDelete(way, first).catch(() => undefined);
  expect(first.isDead()).toBe(true);
}
const CONFIRMED: Readonly<Record<Way, string>> = {
  own: 'after commit of prepared',
  approved: 'after commit of approved and prepared',
};

/** Another process goes on, until nothing is left to do. */
async function resume(process: MortalProcess = scenario.start()): Promise<void> {
  await goOn(process, scenario);
}

const requests = () => scenario.hosting.requests.length;
const told = () =>
  scenario.toldDeletes.map(({ operation: { state, reason } }) =>
    [state, reason?.code].filter(Boolean).join(' '),
  );
async function outcome(): Promise<string> {
  const { state, reason } = (await findDelete(scenario)) ?? {};
  return [state, reason?.code].filter(Boolean).join(' ');
}
async function audited(): Promise<readonly string[]> {
  const entries = await scenario.store.audit.list({ workspaceId: 'T1', limit: 100 });
  const ofDelete = entries.filter(({ action }) => action === 'delete').reverse();
  expect(new Set(ofDelete.map(({ actId }) => actId))).toEqual(new Set([ID]));
  return ofDelete.map((each) => [each.outcome, each.code].filter(Boolean).join(' '));
}
const show = (server: Server | undefined) =>
  scenario.hosting.servers.splice(0, 9, ...(server ? [server] : []));
const protect = () => scenario.store.serverNotes.put('protection', 'T1', { serverId: 1, protectedBy: 'U2' });
const replaceKey = () => scenario.store.apiKeys.put('T1', new Secret('other'), 'U2', T0);
const requireApproval = () => arrangeDelete('approved', scenario);

describe.each(WAYS)('a confirmed delete (%s) whose mark as sent has an unknown outcome', (way) => {
  test.each([
    'before',
    'after',
  ])('is not sent, and ends as not done: the answer is lost %s the commit', async (moment) => {
    await arrangeDelete(way, scenario);
    const at = `${moment} commit of sent`;
    await pressDelete(way, scenario.start({ kind: 'database_fails', at, forMs: 40_000 }));
    await resume();
    expect([await outcome(), requests(), told()]).toEqual(['refused defect', 0, ['refused defect']]);
    // Until the database answered, its user heard that it doesn't.
    expect(scenario.unsavedDeletes).toHaveLength(1);
  });
});

describe.each(WAYS)('a confirmed delete (%s) whose process was killed before it was sent', (way) => {
  test('is sent once by the next process, and its user is told', async () => {
    await killedAt(CONFIRMED[way], way);
    expect([await outcome(), requests()]).toEqual(['prepared', 0]);
    await resume();
    expect([await outcome(), requests(), told()]).toEqual(['settled', 1, ['settled']]);
    expect(scenario.toldDeletes[0]?.by).toBe(way === 'own' ? undefined : 'U2');
    expect(await audited()).toEqual(['started', 'done']);
    await resume();
    expect([requests(), told()]).toEqual([1, ['settled']]);
  });

  test.each<[string, string, () => unknown, string[]?]>([
    ['the key was replaced', 'account_changed', replaceKey],
    ['an owner has protected the server', 'server_protected', protect],
    ['the server has another label', 'label_differs', () => show({ ...DB, label: 'db-prod' })],
    ['the server is gone', 'unknown_server', () => show(undefined)],
    ['the list shows it as deleted', 'unknown_server', () => show({ ...DB, state: 'Deleted' })],
    ['two minutes have passed', 'stale_confirmation', () => scenario.clock.pass(2 * MINUTE_MS + 1)],
    ['the clock was set back', 'stale_confirmation', () => scenario.clock.step(-MINUTE_MS)],
    ['its user has lost the role', 'role_needed', () => undefined, ['U2']],
  ])('is never sent when %s, and its user is told why', async (_words, code, change, owners) => {
    await killedAt(CONFIRMED[way], way);
    await change();
    await resume(scenario.start(undefined, owners));
    expect([await outcome(), requests(), told()]).toEqual([`refused ${code}`, 0, [`refused ${code}`]]);
    expect(await audited()).toEqual(['started', `failed ${code}`]);
  });

  test('waits while the list can’t be read, for as long as it may be sent', async () => {
    await killedAt(CONFIRMED[way], way);
    scenario.hosting.isKeyRevoked = true;
    const next = scenario.start();
    await next.runBackground(async () => scenario.clock.now() > T0 + MINUTE_MS, 5000);
    expect([await outcome(), told()]).toEqual(['prepared', []]);
    scenario.hosting.isKeyRevoked = false;
    await goOn(next, scenario, 5000);
    expect([await outcome(), requests()]).toEqual(['settled', 1]);
  });

  test('is never sent to a list that lacks it and may be incomplete', async () => {
    await killedAt(CONFIRMED[way], way);
    show(undefined);
    scenario.hosting.isListComplete = false;
    await resume();
    expect([await outcome(), requests()]).toEqual(['refused stale_confirmation', 0]);
  });
});

test.each([
  ['an approved delete is never sent', 'approved', ['refused already_renewed', 0]],
  ['a user’s own delete is sent', 'own', ['settled', 1]],
] as const)('%s when a month was paid since', async (_words, way, expected) => {
  await killedAt(CONFIRMED[way], way);
  show({ ...DB, paidUntil: paidUntil + 1 });
  await resume();
  expect([await outcome(), requests()]).toEqual(expected);
});

describe('while a delete waits for the limiter', () => {
  test.each([
    ['an owner protects the server', 'server_protected', protect],
    ['the key is replaced', 'account_changed', replaceKey],
    ['the two-person rule is turned on', 'approval_needed', requireApproval],
    ['two minutes pass', 'stale_confirmation', () => scenario.clock.pass(2 * MINUTE_MS + 1)],
  ])('it ends unsent when %s', async (_words, code, change) => {
    scenario.hosting.whileQueued = async () => change();
    await pressDelete('own', scenario.start());
    expect([await outcome(), requests(), told()]).toEqual([`refused ${code}`, 0, [`refused ${code}`]]);
  });

  test('its user is told nothing about it once another process may have sent it', async () => {
    const { store, hosting } = scenario;
    const by = { owner: 'other', now: T0, until: T0 + MINUTE_MS };
    hosting.whileQueued = async () => {
      const [job] = await store.jobStore.list('operation', 'T1');
      await store.jobStore.giveBack(job?.owner ?? '');
      await leaseOperation(store, ID, by);
      const permit = await store.ledger.readPermit('T1', T0);
      expect(await store.ledger.markSent(ID, sentBy('other', T0, { permit }))).toBe('sent');
    };
    await pressDelete('own', scenario.start());
    expect([await outcome(), requests(), told()]).toEqual(['sent', 0, []]);
  });

  test('what was looked up is looked up again after ten seconds', async () => {
    scenario.hosting.whileQueued = async () => {
      await scenario.clock.pass(11_000);
      show({ ...DB, label: 'db-prod' });
    };
    await pressDelete('own', scenario.start());
    expect([await outcome(), requests()]).toEqual(['refused label_differs', 0]);
  });
});

describe.each(WAYS)('a delete (%s) whose process was killed after it was marked as sent', (way) => {
  test('is never sent again: the list settles it, and its user is told', async () => {
    await killedAt('after hosting.deleteServer', way);
    expect([await outcome(), requests(), told()]).toEqual(['sent', 1, []]);
    await resume();
    expect([await outcome(), requests(), told()]).toEqual(['settled', 1, ['settled']]);
    expect(await audited()).toEqual(['started', 'done']);
  });

  test('is never sent again: while the list has the server, nothing is told for two minutes, then that nobody knows', async () => {
    await killedAt('after commit of sent', way);
    const next = scenario.start();
    await next.runBackground(async () => scenario.clock.now() >= T0 + MINUTE_MS, 5000);
    expect([await outcome(), requests(), told()]).toEqual(['unconfirmed no_answer', 0, []]);
    await goOn(next, scenario);
    expect([await outcome(), requests(), told()]).toEqual([
      'unconfirmed no_answer',
      0,
      ['unconfirmed no_answer'],
    ]);
    expect(await audited()).toEqual(['started', 'in_doubt no_answer']);
  });

  test('is never judged by the servers of another account', async () => {
    await killedAt('after commit of sent', way);
    await replaceKey();
    show(undefined);
    await resume();
    expect([await outcome(), told()]).toEqual(['unconfirmed lost_account', ['unconfirmed lost_account']]);
  });
});

describe('a delete that no answer proves', () => {
  test('is looked for until a list is whole, and its user is told what became of it', async () => {
    scenario.hosting.script(lost(false));
    scenario.hosting.isListComplete = false;
    const process = scenario.start();
    scenario.hosting.whileQueued = async () => show(undefined);
    await pressDelete('own', process);
    expect([await outcome(), told()]).toEqual(['unconfirmed no_answer', ['unconfirmed no_answer']]);
    await process.runBackground(async () => scenario.clock.now() > T0 + 60 * MINUTE_MS, MINUTE_MS);
    expect([(await findDelete(scenario))?.endedAt, told().length]).toEqual([undefined, 1]);
    scenario.hosting.isListComplete = true;
    await resume(process);
    expect([await outcome(), requests(), told().at(-1)]).toEqual(['settled', 1, 'settled']);
    expect(await audited()).toEqual(['started', 'in_doubt no_answer', 'done']);
  });
});

test.each([
  ['something else than its label was typed', 'label_differs', 'U1', 'db-2'],
  ['its user’s role is for other servers', 'role_needed', 'U9', 'db-1'],
])('a delete is not even confirmed when %s', async (_words, code, userId, typedLabel) => {
  await scenario.store.grants.put(newGrant({ subjectId: 'U9', role: 'manager', pattern: 'web-*' }));
  const form = { formId: ID, id: 1, label: 'db-1', typedLabel };
  const confirmed = scenario.start().entry.execute(confirmDelete, form, callerOf(userId));
  await expect(confirmed).rejects.toMatchObject({ code });
  expect(await findDelete(scenario)).toBeUndefined();
});

test('presses of Delete in the same form send it once, at once or later', async () => {
  const process = scenario.start();
  const pressed = [1, 2, 3].map(() => pressDelete('own', process));
  const ended = await Promise.allSettled(pressed);
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await expect(pressDelete('own', process)).rejects.toMatchObject({ code: 'already_handled' });
  expect([requests(), told()]).toEqual([1, ['settled']]);
});

test('a delete whose form asked for approval stays in need of it, even if the rule is turned off', async () => {
  await requireApproval();
  const process = scenario.start({ kind: 'killed', at: 'after commit of open' });
  await pressDelete('approved', process).catch(() => undefined);
  const { store } = scenario;
  expect(await store.requests.find(ID, ['delete'])).toMatchObject({ state: 'open' });
  const settings = (await store.workspaces.find('T1'))?.settings ?? DEFAULT_SETTINGS;
  await store.workspaces.changeSettings('T1', settings, DEFAULT_SETTINGS);
  await pressDelete('own', scenario.start());
  expect([await findDelete(scenario), requests()]).toEqual([undefined, 0]);
});

test('an approved delete that is proven is followed once its message is in the channel', async () => {
  await killedAt('before notifier.notify', 'approved');
  const followed = async () => (await scenario.store.jobStore.list('follow', 'T1')).map(({ key }) => key);
  expect(await followed()).toEqual([]);
  await resume();
  expect(await followed()).toEqual([ID]);
});

test('a delete whose user Slack doesn’t reach stays due, for a day', async () => {
  await killedAt('after hosting.deleteServer', 'own');
  const process = scenario.start();
  const silent = { notify: async () => false };
  Object.assign(process.ports, { deleteNotifier: silent });
  await process.runBackground(async () => scenario.clock.now() > T0 + 20 * 60 * MINUTE_MS, 15 * MINUTE_MS);
  expect((await findDelete(scenario))?.notifiedAt).toBeUndefined();
  await goOn(process, scenario, 60 * MINUTE_MS);
  expect((await findDelete(scenario))?.state).toBe('settled');
});
