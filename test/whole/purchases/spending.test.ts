import { describe, expect, it, test } from 'vitest';
import { money } from '../../../src/core/money.ts';
import { DEFAULT_SETTINGS, type WorkspaceSettings } from '../../../src/core/settings.ts';
import { monthStart } from '../../../src/core/time.ts';
import type { Purchase } from '../../../src/purchases/operation.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { entry, markSent, NO_ANSWER, NOT_DONE } from '../../db/fixtures.ts';
import { createServer, orderOf } from '../../support/acts.ts';
import { type RuledTeam, startRuledTeam, TWO_PERSONS } from '../../support/ruled-team.ts';
import { grantRole, startTeam, type Team, type TeamOptions } from '../../support/team.ts';

/** An order as a test records it: of small for 5.90 by @mara, settled now. */
interface RecordedOrder {
  readonly purchase: Purchase;
  readonly price?: number | undefined;
  readonly by?: keyof typeof USERS;
  readonly at?: number;
  readonly ends?: 'settled' | 'unconfirmed' | 'decided';
  readonly serverId?: number;
}

function createOf(label: string, plan = 'small'): Purchase {
  return { kind: 'create', order: { plan, location: 'ams', image: 'debian-13', label } };
}

let recorded = 0;

/** Writes an order into the team's ledger without the hosting service, which has its server already. */
async function record({ app }: Team, order: RecordedOrder): Promise<void> {
  const { apiKeys, ledger, system } = app.ports;
  const { purchase, by = 'mara', at = system.now(), ends = 'settled', serverId } = order;
  recorded += 1;
  const id = `01K5RECORDED${String(recorded).padStart(14, '0')}`;
  const actorId = USERS[by].id;
  const hundredths = 'price' in order ? order.price : 590;
  const price = hundredths === undefined ? undefined : money(hundredths);
  await ledger.prepare({ id, workspaceId: TEAM.id, actorId, purchase, at, price });
  const sentAt = at + 1;
  const { account } = (await apiKeys.find(TEAM.id)) ?? {};
  if (!(await markSent(app.ports, id, sentAt, [], account))) throw new Error('the order is not sent');
  const audit = entry({ workspaceId: TEAM.id, actorId });
  if (ends === 'settled') {
    if (!(await ledger.settle(id, { at: sentAt, serverId }, audit)))
      throw new Error('the order is not settled');
  } else {
    await ledger.markUnconfirmed(id, { reason: NO_ANSWER }, audit);
    if (ends === 'decided')
      await ledger.refuse(id, { at: sentAt, reason: NOT_DONE, decidedBy: actorId }, audit);
  }
}

const withBudget = (budget: WorkspaceSettings['budget'], settings = DEFAULT_SETTINGS) => ({
  ...settings,
  budget,
});

/** The manager confirms a create of 5.90, and starts with an empty screen. */
async function create(team: RuledTeam, label: string): Promise<void> {
  await createServer(team.manager, label);
  team.manager.overlooksOldMessages();
}

describe.concurrent('a budget', () => {
  test('is shown in the review, counts what the app paid, and refuses an order that exceeds it with an explanation', async () => {
    await using team = await startRuledTeam(withBudget({ workspace: money(1500), person: money(1200) }));
    await create(team, 'web-1');
    await team.manager.types(orderOf('web-2'));
    await team.manager.sees(
      'Spent or ordered this month (from Slack): workspace 5.90 of 15.00, you 5.90 of 12.00.',
    );
    team.manager.doesNotSee('This exceeds this month’s budget');
    await team.manager.presses('Create and pay');
    await team.manager.sees('web-2 is being created (');
    await team.manager.closes();
    await team.manager.types(orderOf('web-3'));
    await team.manager.sees('This exceeds this month’s budget and will be refused.');
    await team.manager.presses('Create and pay');
    await team.manager.sees(
      'exceeds the workspace’s monthly budget: 11.80 of 15.00 has been spent or ordered',
    );
    await team.manager.sees('Nothing was ordered or charged');
    expect(team.charges()).toBe(2);
    expect(team.creates()).toBe(2);
    expect(await team.listAudit()).toContain('mara confirm failed over_budget');
  });

  test('per user stops one user and not another', async () => {
    await using team = await startRuledTeam(withBudget({ person: money(600) }), {
      settings: { HOSTING_CURRENCY: 'EUR' },
    });
    await create(team, 'web-1');
    await team.manager.types(orderOf('web-2'));
    await team.manager.presses('Create and pay');
    await team.manager.sees('exceeds your monthly budget: 5.90 of 6.00 EUR has been spent or ordered');
    await team.owner.types(orderOf('web-3'));
    await team.owner.sees('you 0.00 of 6.00 EUR');
    await team.owner.presses('Create and pay');
    await team.owner.sees('web-3 is being created');
    expect(team.charges()).toBe(2);
  });

  test('that is used up refuses a renewal of unknown price, without naming a price', async () => {
    await using team = await startRuledTeam(withBudget({ workspace: money(0) }));
    team.hosting.seedServers(team.account, 1, 'old');
    await team.manager.types('/vps renew old-1');
    await team.manager.sees('This exceeds this month’s budget');
    await team.manager.presses('Renew and pay');
    await team.manager.sees(
      '0.00 of 0.00 has been spent or ordered, and we don’t know the price of this order',
    );
    team.manager.doesNotSee('costs 0.00');
    expect(team.charges()).toBe(0);
  });

  test('does not count a renewal of unknown price, and says so', async () => {
    await using team = await startRuledTeam(withBudget({ workspace: money(600) }));
    team.hosting.seedServers(team.account, 1, 'old');
    await team.manager.types('/vps renew old-1');
    await team.manager.sees('This renewal won’t count');
    await team.manager.presses('Renew and pay');
    await team.manager.sees('old-1 was renewed');
    await team.manager.closes();
    await create(team, 'web-1');
    expect(team.charges()).toBe(2);
  });
});

describe.concurrent('a budget where the two-person rule is on', () => {
  const cheapIsFree = { ...DEFAULT_SETTINGS.approval, createAbove: money(1000) };

  test('sends an order that exceeds it to another manager, who is told that it does', async () => {
    await using team = await startRuledTeam(
      withBudget({ workspace: money(700) }, { ...DEFAULT_SETTINGS, approval: cheapIsFree }),
    );
    await create(team, 'web-1');
    await team.manager.types(orderOf('web-2'));
    await team.manager.sees('This exceeds this month’s budget, so another manager must approve it');
    await team.manager.presses('Request approval');
    await team.manager.sees('Waiting for another manager');
    await team.approver.sees('This exceeds this month’s budget');
    await team.approver.presses('Approve');
    await team.manager.sees('web-2 is being created (');
    expect(team.charges()).toBe(2);
    await team.manager.closes();
    await team.manager.types(orderOf('web-3'));
    await team.manager.sees('11.80 of 7.00');
  });

  test('cancels an approved order that exceeds it, unless the request said that it would', async () => {
    await using team = await startRuledTeam(withBudget({ workspace: money(1000) }, TWO_PERSONS));
    for (const label of ['web-1', 'web-2']) {
      await team.askCreate(label);
      await team.manager.closes();
    }
    team.approver.doesNotSee('This exceeds this month’s budget');
    await team.approver.presses('Approve');
    await team.manager.sees('web-2 is being created (');
    await team.approver.presses('Approve');
    await team.manager.sees('web-1 wasn’t created: this month’s budget no longer covers it');
    expect(team.charges()).toBe(1);
    await team.manager.presses('Request again…');
    await team.manager.presses('Request approval');
    await team.approver.sees('This exceeds this month’s budget');
    await team.approver.presses('Approve');
    await team.manager.sees('web-1 is being created (');
    expect(team.charges()).toBe(2);
  });
});

/** A team with so many servers named web-1, web-2, …, of which these were ordered here. */
async function startCosts(
  count: number,
  orders: (ids: readonly number[]) => readonly RecordedOrder[],
  options: TeamOptions = {},
) {
  // An order of last month can't be sent by PostgreSQL's own clock.
  const exempt = { toldTruly: 'the orders are written into the ledger' };
  const team = await startTeam({ engine: 'sqlite', exempt, ...options });
  const ids = team.hosting.seedServers(team.account, count, 'web');
  for (const order of orders(ids)) await record(team, order);
  return team;
}

const created = (ids: readonly number[], at: number, plan = 'small', more: Partial<RecordedOrder> = {}) => ({
  purchase: createOf(`web-${at + 1}`, plan),
  serverId: ids[at] ?? 0,
  ...more,
});

/** Of last month. */
const old = { at: monthStart(Date.now()) - 1000 };

const chartsOf = ({ slack }: Team) =>
  slack
    .as('mara')
    .messages()
    .flatMap(({ blocks }) => blocks.filter(({ type }) => type === 'data_visualization'));

describe.concurrent('the costs', () => {
  it('show today’s prices by plan and by creator, a chart, and what was paid this month', async () => {
    await using team = await startCosts(4, (ids) => [
      created(ids, 0),
      created(ids, 1, 'small', old),
      created(ids, 2, 'large', { by: 'olga', price: 2000, ...old }),
      { purchase: { kind: 'renew', serverId: ids[1] ?? 0, label: 'web-2', paidUntil: 1 } },
      {
        purchase: { kind: 'renew', serverId: ids[3] ?? 0, label: 'web-4', paidUntil: 2 },
        price: undefined,
      },
    ]);
    const { manager } = team;
    await manager.types('/vps costs');
    await manager.sees('35.30 per month for 3 of 4 servers. We don’t know the price of the other.');
    await manager.sees('Per month: large 23.5, small 11.8');
    await manager.sees('By plan large · 23.50 · 1 server small · 11.80 · 2 servers');
    await manager.sees('By creator @olga · 23.50 · 1 server @mara · 11.80 · 2 servers');
    await manager.sees('Price unknown (1): web-4');
    await manager.sees(
      '(UTC): 11.80, plus 1 at an unknown price • 1 new server: 5.90 • 2 renewals: 5.90, plus 1 at an unknown price',
    );
    manager.doesNotSee('balance');
    expect(chartsOf(team)).toHaveLength(1);
    expect(team.hosting.charges(team.account)).toEqual([]);
  });

  it('list unconfirmed orders, and orders closed without proof, separately from what was paid', async () => {
    await using team = await startCosts(1, () => [
      { purchase: createOf('lost'), ends: 'unconfirmed' },
      {
        purchase: { kind: 'renew', serverId: 7, label: 'x', paidUntil: 1 },
        ends: 'unconfirmed',
        price: undefined,
      },
      { purchase: createOf('closed'), ends: 'decided', price: 1190 },
      { purchase: createOf('before'), ends: 'unconfirmed', ...old },
    ]);
    const { manager } = team;
    await manager.types('/vps costs');
    await manager.sees('(UTC): nothing');
    await manager.sees('2 unconfirmed orders may add 5.90, plus 1 at an unknown price.');
    await manager.sees('1 order closed by a manager as not carried out, not counted: 11.90');
    await manager.sees('We don’t know what your server costs a month.');
  });

  it('cover only the servers that the user’s role is for, at today’s prices, and the message says so', async () => {
    await using team = await startCosts(3, (ids) => [
      created(ids, 0),
      created(ids, 1, 'large'),
      { purchase: createOf('db-1', 'large') },
    ]);
    const limited = team.slack.as('nora');
    await limited.types('/vps costs');
    await limited.sees('You need the viewer role');
    limited.doesNotSee('5.90');
    const entries = await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 9 });
    expect(entries).toContainEqual(expect.objectContaining({ action: 'costs', outcome: 'denied' }));
    await grantRole(team, USERS.nora.id, 'viewer', { pattern: 'web-1' });
    team.hosting.prices.setPrice('small', '7.15');
    await limited.types('/vps costs');
    await limited.sees('7.15 per month for 1 server.');
    await limited.sees('Your role is for some servers only.');
    await limited.sees('(UTC): 5.90 • 1 new server: 5.90');
    limited.doesNotSee('large');
    limited.doesNotSee('web-2');
  });
});

const FREEZE = { by: USERS.olga.id, since: Date.UTC(2026, 0, 31) };

describe.concurrent('while purchases are frozen', () => {
  test('no order is sent and no order form opens, and /vps status, too, says who froze them', async () => {
    await using team = await startRuledTeam(DEFAULT_SETTINGS);
    team.hosting.seedServers(team.account, 1, 'old');
    await team.manager.types(orderOf('web-1'));
    await team.manager.sees('Create and pay');
    await team.setSettings({ ...DEFAULT_SETTINGS, freeze: FREEZE });
    await team.manager.presses('Create and pay');
    await team.manager.sees('Nothing was ordered or charged.');
    await team.manager.closes();
    for (const command of [orderOf('web-1'), '/vps renew old-1']) {
      await team.manager.types(command);
      await team.manager.sees('Purchases are frozen (by @olga');
      await team.manager.closes();
    }
    team.manager.overlooksOldMessages();
    await team.manager.types('/vps status');
    await team.manager.sees('Purchases are frozen (by @olga');
    await team.setSettings(DEFAULT_SETTINGS);
    team.manager.overlooksOldMessages();
    await team.manager.types('/vps status');
    await team.manager.sees('The hosting API is up');
    team.manager.doesNotSee('Purchases are frozen');
    expect([team.creates(), team.charges()]).toEqual([0, 0]);
  });

  test('a purchase can’t be approved until the freeze is lifted', async ({ expect }) => {
    await using team = await startRuledTeam();
    await team.askCreate();
    await team.setSettings({ ...TWO_PERSONS, freeze: FREEZE });
    await team.approver.presses('Approve');
    await team.approver.sees('Purchases are frozen (by @olga');
    expect(team.creates()).toBe(0);
    await team.setSettings(TWO_PERSONS);
    await team.approver.presses('Approve');
    await expect.poll(() => team.charges()).toBe(1);
  });
});
