import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { monthStart } from '../../../src/core/time.ts';
import { defaultCatalog } from '../../../src/sandbox/hosting/catalog.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { createOf, type RecordedOrder, record } from '../../support/orders.ts';
import { startTeam, type Team, type TeamOptions } from '../../support/team.ts';

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
  return { team, manager: team.slack.as('mara').in('#ops') };
}

const created = (ids: readonly number[], at: number, plan = 'small', more: Partial<RecordedOrder> = {}) => ({
  purchase: createOf(`web-${at + 1}`, plan),
  serverId: ids[at] ?? 0,
  ...more,
});

const LAST_MONTH = monthStart(Date.now()) - 1000;
const old = { at: LAST_MONTH };

const chartsOf = ({ slack }: Team) =>
  slack
    .as('mara')
    .in('#ops')
    .messages()
    .flatMap(({ blocks }) => blocks.filter(({ type }) => type === 'data_visualization'));

describe.concurrent('the costs', () => {
  it('show today’s prices by plan and by creator, a chart, and what was paid this month', async ({
    expect,
  }) => {
    const { team, manager } = await startCosts(4, (ids) => [
      created(ids, 0),
      created(ids, 1, 'small', old),
      created(ids, 2, 'large', { by: 'olga', price: 2000, ...old }),
      { purchase: { kind: 'renew', serverId: ids[1] ?? 0, label: 'web-2', paidUntil: 1 } },
      {
        purchase: { kind: 'renew', serverId: ids[3] ?? 0, label: 'web-4', paidUntil: 2 },
        price: undefined,
      },
    ]);
    await using _ = team;
    await manager.types('/vps costs');
    await manager.sees('35.30 per month for 3 of 4 servers. We don’t know the price of the other.');
    await manager.sees('Per month: large 23.5, small 11.8');
    await manager.sees('By plan large · 23.50 · 1 server small · 11.80 · 2 servers');
    await manager.sees('By creator @olga · 23.50 · 1 server @mara · 11.80 · 2 servers');
    await manager.sees('Price unknown (1): web-4');
    await manager.sees(
      '(UTC): 11.80 • 1 new server: 5.90 • 2 renewals: 5.90 (1 at an unknown price, not counted)',
    );
    manager.doesNotSee('balance');
    expect(chartsOf(team)).toHaveLength(1);
    expect(team.slack.brokenRules()).toEqual([]);
    expect(team.hosting.charges(team.account)).toEqual([]);
  });

  it('list unconfirmed orders, and orders closed without proof, separately from what was paid', async ({
    expect,
  }) => {
    const { team, manager } = await startCosts(1, () => [
      { purchase: createOf('lost'), ends: 'unconfirmed' },
      {
        purchase: { kind: 'renew', serverId: 7, label: 'x', paidUntil: 1 },
        ends: 'unconfirmed',
        price: undefined,
      },
      { purchase: createOf('closed'), ends: 'decided', price: 1190 },
      { purchase: createOf('before'), ends: 'unconfirmed', ...old },
    ]);
    await using _ = team;
    await manager.types('/vps costs');
    await manager.sees('(UTC): nothing');
    await manager.sees('2 unconfirmed orders may add 5.90, plus 1 at an unknown price.');
    await manager.sees('A manager closed 1 order as not carried out; its 11.90 isn’t counted.');
    await manager.sees('We don’t know what your server costs a month.');
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('use the price at creation, and say so, where the catalog no longer has the plan', async ({
    expect,
  }) => {
    const { plans, ...rest } = defaultCatalog();
    const catalog = { ...rest, plans: plans.filter(({ code }) => code !== 'small') };
    const { team, manager } = await startCosts(1, (ids) => [created(ids, 0, 'small', { price: 550 })], {
      hosting: { catalog },
    });
    await using _ = team;
    await manager.types('/vps costs');
    await manager.sees('5.50 per month for 1 server.');
    await manager.sees(
      'small · 5.50 · 1 server · price at creation, since the plan isn’t in today’s catalog',
    );
    expect(chartsOf(team)).toEqual([]);
  });

  it('follow changes of the catalog’s prices', async () => {
    const { team, manager } = await startCosts(1, (ids) => [created(ids, 0)]);
    await using _ = team;
    team.hosting.prices.setPrice('small', '7.15');
    await manager.types('/vps costs');
    await manager.sees('7.15 per month for 1 server.');
  });

  it('are sent without the chart, with the same numbers, where Slack refuses the chart', async ({
    expect,
  }) => {
    const { team, manager } = await startCosts(2, (ids) => [created(ids, 0), created(ids, 1, 'micro')]);
    await using _ = team;
    team.slack.faults.refuseBlock('data_visualization');
    await manager.types('/vps costs');
    await manager.sees('8.80 per month for 2 servers.');
    await manager.sees('small · 5.90 · 1 server micro · 2.90 · 1 server');
    await manager.presses('CSV…');
    await manager.sees('id,label,plan,monthly');
    expect(chartsOf(team)).toEqual([]);
  });

  it('cover only the servers that the user’s role is for, and the message says so', async () => {
    const { team } = await startCosts(3, (ids) => [
      created(ids, 0),
      created(ids, 1, 'large'),
      { purchase: createOf('db-1', 'large') },
    ]);
    await using _ = team;
    await team.app.ports.grants.put({
      workspaceId: TEAM.id,
      subjectKind: 'user',
      subjectId: USERS.nora.id,
      role: 'viewer',
      pattern: 'web-1',
      grantedBy: USERS.olga.id,
      grantedAt: Date.now(),
    });
    const limited = team.slack.as('nora').in('#ops');
    await limited.types('/vps costs');
    await limited.sees('5.90 per month for 1 server.');
    await limited.sees('Your role is for some servers only.');
    await limited.sees('(UTC): 5.90 • 1 new server: 5.90');
    limited.doesNotSee('large');
    limited.doesNotSee('web-2');
    await limited.presses('CSV…');
    await limited.sees(',web-1,small,5.90,');
    limited.doesNotSee('web-2');
  });

  it('are refused to users without a role, which is audited', async ({ expect }) => {
    const { team } = await startCosts(1, (ids) => [created(ids, 0)]);
    await using _ = team;
    const nora = team.slack.as('nora').in('#ops');
    await nora.types('/vps costs');
    await nora.sees('viewer');
    nora.doesNotSee('5.90');
    const entries = await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 9 });
    expect(entries).toContainEqual(expect.objectContaining({ action: 'costs', outcome: 'denied' }));
  });

  it('leave out the price of another account’s server with the same ID', async () => {
    const { team, manager } = await startCosts(2, (ids) => [
      created(ids, 0),
      { purchase: createOf('elsewhere', 'large'), serverId: ids[1] ?? 0 },
    ]);
    await using _ = team;
    const otherKey = new Secret(team.hosting.createKey(team.account));
    await team.app.ports.apiKeys.put(TEAM.id, otherKey, USERS.olga.id, Date.now());
    await manager.types('/vps costs');
    await manager.sees('5.90 per month for 1 of 2 servers.');
    await manager.sees('Price unknown (1): web-2');
  });

  it('of 500 servers fit into one message and one CSV', async ({ expect }) => {
    const { team, manager } = await startCosts(500, (ids) =>
      ids.slice(0, 12).map((_, at) => created(ids, at, at % 2 === 0 ? 'small' : `gone-${at}`)),
    );
    await using _ = team;
    await manager.types('/vps costs');
    await manager.sees('for 12 of 500 servers. We don’t know the price of the other 488.');
    await manager.sees('Price unknown (488): web-13, web-14');
    await manager.sees('and 478 more');
    await manager.presses('CSV…');
    await manager.sees('500 servers. Copy all');
    await manager.sees('web-500');
    expect(team.slack.brokenRules()).toEqual([]);
  });
});

describe('the CSV of the costs', () => {
  it('has a row for each server, and no label in it is run as a formula', async () => {
    const { team, manager } = await startCosts(2, (ids) => [created(ids, 0)]);
    await using _ = team;
    await manager.types('/vps create plan=small location=ams image=debian-13 "label==HYPERLINK(""x"")"');
    await manager.presses('Create and pay');
    await manager.sees(/(was|is being) created \(/);
    await manager.closes();
    await manager.types('/vps costs');
    await manager.presses('CSV…');
    await manager.sees('id,label,plan,monthly,price,created_by,created_at,paid_until');
    const shown = manager.modal()?.shown ?? '';
    expect(shown).toMatch(
      new RegExp(
        `\\d+,web-1,small,5\\.90,catalog_today,${USERS.mara.id},20[\\d-]+T[\\d:]+Z,20[\\d-]+T[\\d:]+Z`,
      ),
    );
    expect(shown).toMatch(/\d+,web-2,,,unknown,,,20/);
    expect(shown).toContain("'=HYPERLINK");
    expect(shown).not.toMatch(/[,"]=/);
    expect(team.slack.brokenRules()).toEqual([]);
  });
});
