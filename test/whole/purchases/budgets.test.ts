import { describe, test } from 'vitest';
import { money } from '../../../src/core/money.ts';
import { DEFAULT_SETTINGS, type WorkspaceSettings } from '../../../src/core/settings.ts';
import { envelope, rawUser } from '../../support/raw-user.ts';
import { type RuledTeam, startRuledTeam, TWO_PERSONS } from '../../support/ruled-team.ts';

const orderOf = (label: string) => ({ plan: 'small', location: 'ams', image: 'debian-13', label });
const typed = (label: string) => `/vps create plan=small location=ams image=debian-13 label=${label}`;

function withBudget(
  workspace: number | undefined,
  person?: number,
  settings: WorkspaceSettings = DEFAULT_SETTINGS,
): WorkspaceSettings {
  return {
    ...settings,
    budget: {
      ...(workspace === undefined ? {} : { workspace: money(workspace) }),
      ...(person === undefined ? {} : { person: money(person) }),
    },
  };
}

/** The manager confirms a create of 5.90 and has the password. */
async function create(team: RuledTeam, label: string): Promise<void> {
  await team.manager.types(typed(label));
  await team.manager.presses('Create and pay');
  await team.manager.sees(`${label} is being created`);
  await team.manager.closes();
  team.manager.overlooksOldMessages();
}

describe.concurrent('a budget', () => {
  test('is shown in the review, counts what the app paid, and refuses an order that exceeds it with an explanation', async ({
    expect,
  }) => {
    await using team = await startRuledTeam(withBudget(1500, 1200));
    await create(team, 'web-1');
    await team.manager.types(typed('web-2'));
    await team.manager.sees(
      'Spent this month (orders from Slack): workspace 5.90 of 15.00, you 5.90 of 12.00.',
    );
    team.manager.doesNotSee('This exceeds this month’s budget');
    await team.manager.presses('Create and pay');
    await team.manager.sees('web-2 is being created (');
    await team.manager.closes();
    await team.manager.types(typed('web-3'));
    await team.manager.sees('This exceeds this month’s budget and will be refused.');
    await team.manager.presses('Create and pay');
    await team.manager.sees('exceeds the workspace’s monthly budget: 11.80 of 15.00 is spent');
    await team.manager.sees('Nothing was ordered or charged');
    expect(team.charges()).toBe(2);
    expect(team.creates()).toBe(2);
    expect(await team.listAudit()).toContain('mara confirm failed over_budget');
  });

  test('per user stops one user and not another', async ({ expect }) => {
    await using team = await startRuledTeam(withBudget(undefined, 600));
    await create(team, 'web-1');
    await team.manager.types(typed('web-2'));
    await team.manager.presses('Create and pay');
    await team.manager.sees('exceeds your monthly budget');
    const owner = team.slack.as('olga').in('#ops');
    await owner.types(typed('web-3'));
    await owner.sees('you 0.00 of 6.00');
    await owner.presses('Create and pay');
    await owner.sees('web-3 is being created');
    expect(team.charges()).toBe(2);
  });

  test('is never exceeded, however many confirm at once', async ({ expect }) => {
    await using team = await startRuledTeam(withBudget(2000));
    const by = rawUser(team, 'mara');
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, place) =>
        by.submits(
          'create_review',
          envelope({ order: orderOf(`web-${place}`), price: 590 }, `form-${place}`),
        ),
      ),
    );
    expect(all.filter(({ response }) => response.includes('Creating'))).toHaveLength(3);
    expect(all.filter(({ response }) => response.includes('This exceeds'))).toHaveLength(9);
    await expect.poll(team.charges, { timeout: 60_000 }).toBe(3);
  });

  test('doesn’t count an order that the hosting API refused', async ({ expect }) => {
    await using team = await startRuledTeam(withBudget(600));
    team.hosting.faults.add({ on: 'create', kind: 'error', code: 'not_created' });
    await team.manager.types(typed('web-1'));
    await team.manager.presses('Create and pay');
    await team.manager.sees('web-1 wasn’t created');
    await team.manager.closes();
    await create(team, 'web-2');
    expect(team.hosting.refunds(team.account)).toHaveLength(1);
    expect(team.labels()).toEqual(['web-2']);
  });

  test('that is used up refuses a renewal of unknown price, without naming a price', async ({ expect }) => {
    await using team = await startRuledTeam(withBudget(0));
    team.hosting.seedServers(team.account, 1, 'old');
    await team.manager.types('/vps renew old-1');
    await team.manager.sees('This exceeds this month’s budget');
    await team.manager.presses('Renew and pay');
    await team.manager.sees('0.00 of 0.00 is spent, and we don’t know the price of this order');
    team.manager.doesNotSee('costs 0.00');
    expect(team.charges()).toBe(0);
  });

  test('does not count a renewal of unknown price, and says so', async ({ expect }) => {
    await using team = await startRuledTeam(withBudget(600));
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

  test('sends an order that exceeds it to another manager, who is told that it does', async ({ expect }) => {
    await using team = await startRuledTeam(
      withBudget(700, undefined, { ...DEFAULT_SETTINGS, approval: cheapIsFree }),
    );
    await create(team, 'web-1');
    await team.manager.types(typed('web-2'));
    await team.manager.sees('This exceeds this month’s budget, so another manager must approve it');
    await team.manager.presses('Request approval');
    await team.manager.sees('Waiting for another manager');
    await team.owner.sees('This exceeds this month’s budget');
    await team.owner.presses('Approve');
    await team.manager.sees('web-2 is being created (');
    expect(team.charges()).toBe(2);
    await team.manager.closes();
    await team.manager.types(typed('web-3'));
    await team.manager.sees('11.80 of 7.00');
  });

  test('cancels an approved order that exceeds it, unless the request said that it would', async ({
    expect,
  }) => {
    await using team = await startRuledTeam(withBudget(1000, undefined, TWO_PERSONS));
    for (const label of ['web-1', 'web-2']) {
      await team.askCreate(label);
      await team.manager.closes();
    }
    team.owner.doesNotSee('This exceeds this month’s budget');
    await team.owner.presses('Approve');
    await team.manager.sees('web-2 is being created (');
    await team.owner.presses('Approve');
    await team.manager.sees('web-1 wasn’t created: this month’s budget no longer covers it');
    expect(team.charges()).toBe(1);
    await team.manager.presses('Request again…');
    await team.manager.presses('Request approval');
    await team.owner.sees('This exceeds this month’s budget');
    await team.owner.presses('Approve');
    await team.manager.sees('web-1 is being created (');
    expect(team.charges()).toBe(2);
  });
});
