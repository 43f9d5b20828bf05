import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { money } from '../../src/core/money.ts';
import { Secret } from '../../src/core/secret.ts';
import { DEFAULT_SETTINGS, type WorkspaceSettings } from '../../src/core/settings.ts';
import type { HostingApi } from '../../src/hosting/hosting-api.ts';
import { confirmPurchase } from '../../src/purchases/confirm.ts';
import { mayChooseChannel } from '../../src/purchases/create.ts';
import { entry, newApproval, newGrant, T0, vault } from '../db/fixtures.ts';
import { MEMBER } from '../support/context.ts';
import {
  CREATE,
  callerOf,
  ID,
  KILLED_UNSENT,
  type MortalProcess,
  OTHER_ID,
  openScenario,
  press,
  RENEWAL,
  type Scenario,
} from './support/scenario.ts';
import { lost, MONTH_MS } from './support/scripted-hosting.ts';

let scenario: Scenario;
let app: MortalProcess;
beforeEach(async () => {
  scenario = await openScenario();
  app = scenario.start();
});
afterEach(() => scenario.close());

describe('a confirmation', () => {
  test('that a crashed process left unsent waits while Slack can’t say whether its user still has the role', async () => {
    await press(scenario.start(KILLED_UNSENT));
    let isAnswering = false;
    const next = scenario.start(undefined, []);
    const findUser = async () => (isAnswering ? { ...MEMBER, isAdmin: true } : undefined);
    Object.assign(next.ports.users, { find: findUser, exists: async () => 'unknown' });
    const handOver = scenario.clock.now() + 40_000;
    await next.runBackground(async () => scenario.clock.now() > handOver);
    expect([(await scenario.find())?.state, scenario.sent()]).toEqual(['prepared', 0]);
    isAnswering = true;
    await scenario.settle(next);
    expect(await scenario.find()).toMatchObject({ state: 'settled' });
  });

  test('is not sent again two minutes later: a rate-limited order ends as refused, without a charge', async () => {
    scenario.hosting.script(
      { kind: 'rate_limited', waitMs: 61_000 },
      { kind: 'rate_limited', waitMs: 61_000 },
    );
    await press(app);
    expect(await scenario.find()).toMatchObject({ state: 'refused', reason: { code: 'stale_confirmation' } });
    expect([scenario.sent(), scenario.hosting.charges]).toEqual([2, 0]);
    expect(scenario.statesTold()).toEqual(['refused']);
  });

  test('is refused at once when its user’s role is for other servers', async () => {
    await scenario.store.grants.put(newGrant({ subjectId: 'U9', role: 'manager', pattern: 'db-*' }));
    await expect(press(app, CREATE, { userId: 'U9' })).rejects.toMatchObject({ code: 'role_needed' });
    expect(await scenario.find()).toBeUndefined();
  });

  test('is not shown to another workspace that has its ID', async () => {
    await scenario.store.workspaces.put({ id: 'T2', name: 'Other' });
    await press(app);
    await expect(press(app, CREATE, { workspaceId: 'T2' })).rejects.toMatchObject({
      code: 'other_workspace',
    });
  });

  test('is not made in a channel while Slack doesn’t say that its user is in it', async () => {
    const chosen = (isMember: boolean | undefined) => {
      Object.assign(app.ports.channels, { hasMember: async () => isMember });
      return app.entry.execute(mayChooseChannel, { channelId: 'C2' }, callerOf('U1'));
    };
    expect([await chosen(true), await chosen(false), await chosen(undefined)]).toEqual([true, false, false]);
  });
});

const DB = { id: 1, label: 'db-1', state: 'running', paidUntil: RENEWAL.paidUntil };

const raisePrice = () => {
  scenario.hosting.plans = scenario.hosting.plans.map((plan) => ({ ...plan, monthly: money(599) }));
};

describe('before it is sent', () => {
  test.each([
    ['is gone', [], 'unknown_server'],
    ['is deleted', [{ ...DB, state: 'deleted' }], 'unknown_server'],
    ['has another label', [{ ...DB, label: 'x' }], 'label_moved'],
    ['has no readable paid time', [{ ...DB, paidUntil: undefined }], 'paid_until_unknown'],
    ['is paid for a shorter time than was shown', [{ ...DB, paidUntil: T0 }], 'already_renewed'],
    ['was renewed since', [{ ...DB, paidUntil: DB.paidUntil + MONTH_MS }], 'already_renewed'],
  ] as const)('a renewal is refused when its server %s', async (_words, servers, code) => {
    scenario.hosting.servers.splice(0, 1, ...servers);
    await press(app, RENEWAL);
    expect(await scenario.find()).toMatchObject({ state: 'refused', reason: { code } });
    expect(scenario.sent()).toBe(0);
  });

  test('a renewal is refused when the price of the plan that its server was ordered with has changed', async () => {
    await press(app);
    const [server] = scenario.hosting.servers.slice(-1);
    const { id: serverId, label, paidUntil } = server ?? expect.fail('no server was created');
    raisePrice();
    await press(app, { kind: 'renew', serverId, label, paidUntil: paidUntil ?? 0 }, { id: OTHER_ID });
    const reason = { code: 'price_moved', details: { before: 499, now: 599 } };
    expect(await scenario.find(OTHER_ID)).toMatchObject({ state: 'refused', reason });
    expect(scenario.sent()).toBe(1);
  });

  describe('what permitted it is looked up again when it leaves the queue', () => {
    const grant = (subjectId: string) => scenario.store.grants.put(newGrant({ subjectId, role: 'manager' }));
    const change = async (settings: Partial<WorkspaceSettings>) => {
      const was = (await scenario.store.workspaces.find('T1'))?.settings ?? DEFAULT_SETTINGS;
      await scenario.store.workspaces.changeSettings('T1', was, { ...was, ...settings });
    };
    const requireTwo = () => change({ approval: { ...DEFAULT_SETTINGS.approval, createAbove: money(0) } });
    const freeze = () => change({ freeze: { by: 'U1', since: T0 } });
    const setBudget = (most: number, whose: 'workspace' | 'person' = 'workspace') =>
      change({ budget: { [whose]: money(most) } });

    test('and it is sent when the budget was lowered to just what it costs, beside what was spent', async () => {
      await press(app, { ...CREATE, order: { ...CREATE.order, label: 'web-0' } }, { id: OTHER_ID });
      scenario.hosting.whileQueued = () => setBudget(2 * 499);
      await press(app);
      expect(await scenario.find()).toMatchObject({ state: 'settled' });
    });

    test.each([
      ['the API key was removed', 'no_api_key', () => scenario.store.apiKeys.remove('T1')],
      [
        'another API key was set',
        'account_changed',
        () => scenario.store.apiKeys.put('T1', new Secret('another key'), 'U1', T0),
      ],
      [
        'the role was revoked',
        'role_needed',
        () => scenario.store.grants.remove('T1', { subjectKind: 'user', subjectId: 'U3' }),
      ],
      ['the two-person rule was turned on', 'approval_needed', requireTwo],
      ['purchases were frozen', 'purchases_frozen', freeze],
      ['the budget was lowered', 'over_budget', () => setBudget(498)],
      ['the budget of each user was lowered', 'over_budget', () => setBudget(498, 'person')],
      [
        'the price has changed and it waited long',
        'price_moved',
        async () => {
          raisePrice();
          await scenario.clock.sleep(11_000);
        },
      ],
    ])('and it is refused when %s', async (_words, code, meanwhile) => {
      await grant('U3');
      scenario.hosting.whileQueued = meanwhile;
      await press(app, CREATE, { userId: 'U3' });
      expect(await scenario.find()).toMatchObject({ state: 'refused', reason: { code } });
      expect(scenario.sent()).toBe(0);
    });

    test('and it is refused when the role has ended', async () => {
      await scenario.store.grants.put(newGrant({ subjectId: 'U3', role: 'manager', until: T0 + 3000 }));
      scenario.hosting.whileQueued = () => scenario.clock.sleep(5000);
      await press(app, CREATE, { userId: 'U3' });
      expect(await scenario.find()).toMatchObject({ state: 'refused', reason: { code: 'role_needed' } });
      expect(scenario.sent()).toBe(0);
    });

    test('and a request for approval that is still open permits nothing', async () => {
      await press(scenario.start(KILLED_UNSENT));
      await requireTwo();
      await scenario.store.requests.requestApproval(newApproval({ id: ID, isOverBudget: true }), entry());
      await setBudget(498);
      await scenario.settle(app);
      expect(await scenario.find()).toMatchObject({ state: 'refused', reason: { code: 'approval_needed' } });
      expect(scenario.sent()).toBe(0);
    });

    test('and it is sent when something else has changed, once', async () => {
      scenario.hosting.whileQueued = () => grant('U9');
      await press(app);
      expect(await scenario.find()).toMatchObject({ state: 'settled' });
      expect(scenario.sent()).toBe(1);
    });
  });

  test.each([
    ['create', CREATE],
    ['renewal', RENEWAL],
  ])('a %s is refused when the list of servers is incomplete', async (_kind, purchase) => {
    scenario.hosting.isListComplete = false;
    await press(app, purchase);
    expect(await scenario.find()).toMatchObject({ state: 'refused', reason: { code: 'list_incomplete' } });
    expect(scenario.sent()).toBe(0);
  });

  test.each([
    ['refused beside a new server of its label', { label: 'web-1', state: 'running' }, 'refused'],
    [
      'refused beside one whose label has other letter case',
      { label: ' WEB-1', state: 'creating' },
      'refused',
    ],
    ['sent beside a deleted server of its label', { label: 'web-1', state: 'deleted' }, 'settled'],
    ['sent beside a new server of another label', { label: 'web-10', state: 'running' }, 'settled'],
  ])('a create is %s', async (_words, server, state) => {
    scenario.hosting.servers.push({ id: 50, ...server });
    await press(app);
    expect(await scenario.find()).toMatchObject({ state });
    expect(scenario.sent()).toBe(state === 'settled' ? 1 : 0);
  });

  test('a create is refused when a server of its label has appeared while it waited in the queue', async () => {
    scenario.hosting.whileQueued = async () => {
      scenario.hosting.servers.push({ id: 50, label: 'web-1', state: 'running' });
      await scenario.clock.sleep(11_000);
    };
    await press(app);
    const reason = { code: 'label_taken', details: { label: 'web-1' } };
    expect(await scenario.find()).toMatchObject({ state: 'refused', reason });
    expect(scenario.sent()).toBe(0);
  });

  test('a create is sent beside the servers of its label that its review showed, after a crash too', async () => {
    scenario.hosting.servers.push({ id: 50, label: 'web-1', state: 'running' });
    await press(scenario.start(KILLED_UNSENT), { ...CREATE, namesakeIds: [50] });
    await scenario.settle(app);
    expect(await scenario.find()).toMatchObject({ state: 'settled', purchase: { namesakeIds: [50] } });
  });

  test('a create waits for one that another process has sent, for as long as it may be sent itself', async () => {
    await press(scenario.start({ kind: 'killed', at: 'after commit of sent' }));
    expect(await scenario.find()).toMatchObject({ state: 'sent' });
    const startedAt = scenario.clock.now();
    await press(app, CREATE, { id: OTHER_ID });
    expect(await scenario.find(OTHER_ID)).toMatchObject({
      state: 'refused',
      reason: { code: 'stale_confirmation' },
    });
    expect(scenario.clock.now() - startedAt).toBeGreaterThanOrEqual(120_000);
    expect(scenario.sent()).toBe(0);
  });
});

/** Longer than a job stays with a process that nobody hears of. */
const FOR_LONG_MS = 40_000;

describe('an order whose mark as sent has an unknown outcome', () => {
  const losing = (moment: 'before' | 'after', forMs: number) =>
    scenario.start({ kind: 'database_fails', at: `${moment} commit of sent`, forMs });

  test.each([
    ['a create', CREATE, 'before', 0],
    ['a create', CREATE, 'after', 0],
    ['a renewal', RENEWAL, 'after', 0],
    ['a create', CREATE, 'before', FOR_LONG_MS],
    ['a create', CREATE, 'after', FOR_LONG_MS],
  ] as const)('is not sent, and its user learns that nothing was charged: %s (%#)', async (_kind, purchase, moment, forMs) => {
    await press(losing(moment, forMs), purchase);
    expect(await scenario.find()).toMatchObject({ state: 'refused', reason: { code: 'defect' } });
    await scenario.settle(app);
    expect([scenario.sent(), scenario.hosting.charges]).toEqual([0, 0]);
    expect(scenario.statesTold()).toEqual(['refused']);
  });

  test('is not sent and may be ordered again, after its user was told once not to', async () => {
    const unsaved: string[] = [];
    const losingOne = losing('after', FOR_LONG_MS);
    Object.assign(losingOne.ports.operationNotifier, {
      notifyUnsaved: async (operation: { id: string }) => void unsaved.push(operation.id),
    });
    await press(losingOne, RENEWAL);
    expect(unsaved).toEqual([ID]);
    await press(app, RENEWAL, { id: OTHER_ID });
    expect(await scenario.find(OTHER_ID)).toMatchObject({ state: 'settled' });
    expect(scenario.hosting.charges).toBe(1);
  });

  test('is left alone by its process once another one has sent it', async () => {
    const isSettled = async () => (await scenario.find())?.state === 'settled';
    await Promise.all([press(losing('before', FOR_LONG_MS)), app.runBackground(isSettled, 5000)]);
    expect(await scenario.find()).toMatchObject({ state: 'settled', hasPassword: true });
    expect([scenario.sent(), scenario.hosting.charges]).toEqual([1, 1]);
    expect(scenario.statesTold()).not.toContain('refused');
  });

  test('is ended by its process although another one has found it as sent, and looks for it', async () => {
    const isRefused = async () => (await scenario.find())?.state === 'refused';
    await Promise.all([press(losing('after', FOR_LONG_MS)), app.runBackground(isRefused, 5000)]);
    await scenario.settle(app);
    expect(scenario.statesTold()).toEqual(['unconfirmed', 'refused']);
    expect(scenario.sent()).toBe(0);
  });
});

describe('creates of one account', () => {
  const createOf = (label: string) => ({ ...CREATE, order: { ...CREATE.order, label } });
  const confirm = ({ entry }: MortalProcess, id: string, label: string) =>
    entry.execute(confirmPurchase, { id, purchase: createOf(label), price: money(499) }, callerOf('U1'));

  test('know the server of one that was sent and settled while they waited in the queue', async () => {
    const other = scenario.start();
    scenario.hosting.whileQueued = async () => {
      scenario.hosting.whileQueued = undefined;
      await confirm(other, OTHER_ID, 'web-2');
      await other.entry.drain();
    };
    await press(app);
    const made = await scenario.find(OTHER_ID);
    expect(made).toMatchObject({ state: 'settled', serverId: 101 });
    expect(await scenario.find()).toMatchObject({ state: 'settled', knownIds: [1, 101] });
  });

  test('that twenty users confirm at once, in three processes, are all paid in time, one at a time', async () => {
    const { clock, hosting } = scenario;
    const calls = { underWay: 0, mostUnderWay: 0 };
    const { api } = hosting;
    const slow: HostingApi = {
      ...api,
      fetchServers: async (options) => {
        const list = await api.fetchServers(options);
        await clock.sleep(1500);
        return list;
      },
      createServer: async (order, options) => {
        const created = await api.createServer(order, options);
        calls.mostUnderWay = Math.max(calls.mostUnderWay, ++calls.underWay);
        await clock.sleep(3000);
        calls.underWay--;
        return created;
      },
    };
    const processes = [app, scenario.start(), scenario.start()];
    for (const { ports } of processes)
      Object.assign(ports, {
        hostingOf: (key: Secret<string>) => ({ ...slow, account: vault.namesOf(key) }),
      });
    const ids = Array.from({ length: 20 }, (_, at) => `01K5CREATE${String(at).padStart(16, '0')}`);
    const startedAt = clock.now();
    const work = async () => {
      await Promise.all(ids.map((id, at) => confirm(processes[at % 3] ?? app, id, `web-${at}`)));
      await Promise.all(processes.map(({ entry }) => entry.drain()));
    };
    await app.run(work());
    const operations = await Promise.all(ids.map((id) => scenario.find(id)));
    expect(operations.map((operation) => operation?.state)).toEqual(ids.map(() => 'settled'));
    expect(clock.now() - startedAt).toBeLessThan(120_000);
    expect([calls.mostUnderWay, hosting.charges]).toEqual([1, 20]);
    // Each knew all servers that the ones before it had made.
    const known = operations.map((operation) => operation?.knownIds.length ?? 0).sort((a, b) => a - b);
    expect(known).toEqual(ids.map((_, at) => 1 + at));
  });
});

describe('a renewal of a month that another workspace with the same key has ordered', () => {
  beforeEach(async () => {
    await scenario.store.workspaces.put({ id: 'T2', name: 'Other' });
    await scenario.store.apiKeys.put('T2', new Secret('api-key'), 'U1', T0 - 1);
    Object.assign(app.ports.users, { find: async () => ({ ...MEMBER, teamIds: ['T1', 'T2'] }) });
  });
  const pressThere = () => press(app, RENEWAL, { id: OTHER_ID, workspaceId: 'T2' });

  test.each([
    ['unconfirmed', 'order_in_doubt', lost(false)],
    ['settled', 'already_renewed', undefined],
  ] as const)('is refused when that is %s', async (state, code, script) => {
    if (script) scenario.hosting.script(script);
    await press(app, RENEWAL);
    expect(await scenario.find()).toMatchObject({ state });
    // The list doesn't show the later date yet.
    scenario.hosting.servers.splice(0, 1, DB);
    await pressThere();
    expect(await scenario.find(OTHER_ID)).toMatchObject({ state: 'refused', reason: { code } });
    expect(scenario.sent()).toBe(1);
  });

  test('waits while that is sent, reading nothing from the API', async () => {
    await press(scenario.start({ kind: 'killed', at: 'after commit of sent' }), RENEWAL);
    const startedAt = scenario.clock.now();
    let reads = 0;
    Object.assign(app.ports, {
      hostingOf: (key: Secret<string>) => ({
        ...scenario.hosting.api,
        account: vault.namesOf(key),
        fetchServers: async () => {
          reads++;
          return scenario.hosting.api.fetchServers();
        },
      }),
    });
    await pressThere();
    const reason = { code: 'stale_confirmation' };
    expect(await scenario.find(OTHER_ID)).toMatchObject({ state: 'refused', reason });
    expect(scenario.clock.now() - startedAt).toBeGreaterThanOrEqual(120_000);
    expect([scenario.sent(), reads]).toEqual([0, 0]);
  });
});
