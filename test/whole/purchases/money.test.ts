import { describe, expect, test } from 'vitest';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { orderOf } from '../../support/acts.ts';
import { showServersAs } from '../../support/other-answers.ts';
import { rawUser } from '../../support/raw-user.ts';
import { grantRole, startTeam, type Team, type TeamOptions } from '../../support/team.ts';

/** Two seconds until what has not appeared counts as not done. */
const SHORT_DOUBT = { config: { DOUBT_MINUTES: 0.03, HOSTING_TIMEOUT_MS: 3000 } };

/** The manager has the review of web-1 before them. */
async function reviewing(options: TeamOptions = {}) {
  const team = await startTeam(options);
  await team.manager.types(orderOf('web-1'));
  await team.manager.sees('Create and pay');
  return team;
}

const createsOf = ({ hosting }: Team) => hosting.requests({ operation: 'create' });
const chargesOf = ({ hosting, account }: Team) => hosting.charges(account);

describe.concurrent('a create', () => {
  test('whose answer is lost or unreadable is unconfirmed, then found, never sent again, and charged once', async () => {
    await using team = await startTeam({ hasRateLimits: false, ...SHORT_DOUBT });
    const { manager } = team;
    const kinds = ['lost_after', 'garbage', 'status_500_after', 'hang'] as const;
    for (const [at, kind] of kinds.entries()) {
      await manager.types(`/vps create plan=small location=ams image=debian-13 label=web-${at}`);
      team.hosting.faults.add({ on: 'create', kind });
      await manager.presses('Create and pay');
      await manager.sees(new RegExp(`(?<!whether )web-${at} (was|is being) created \\(`));
      expect([createsOf(team).length, chargesOf(team).length]).toEqual([at + 1, at + 1]);
      await manager.closes();
    }
    manager.overlooksOldMessages();
    await manager.types('/vps password web-0');
    await manager.sees('no stored root password');
  });

  test.each([
    'lost_before',
    'html',
  ] as const)('that was not carried out (%s) goes to a manager, is not charged, and can then be ordered again', async (kind) => {
    await using team = await reviewing(SHORT_DOUBT);
    team.hosting.faults.add({ on: 'create', kind });
    await team.manager.presses('Create and pay');
    await team.manager.sees('We’re not sure yet');
    await team.manager.sees('hasn’t appeared in the hosting account');
    team.manager.doesNotSee('wasn’t created');
    await team.manager.closes();
    await team.manager.presses('Resolve…');
    await team.manager.fills({ 'Which server was created?': 'None: it wasn’t created' });
    await team.manager.presses('Save');
    await team.manager.sees('closed this order');
    expect(createsOf(team)).toHaveLength(1);
    expect(chargesOf(team)).toHaveLength(0);
    await team.manager.closes();
    await team.manager.presses('Try again');
    await team.manager.presses('Create and pay');
    await team.manager.sees("I've saved it");
    expect(chargesOf(team)).toHaveLength(1);
  });

  test('that the supplier gave up on goes to a manager, and is never reported as not created', async () => {
    await using team = await reviewing(SHORT_DOUBT);
    team.hosting.faults.add({ on: 'create', kind: 'checking_refunds', afterMs: 500 });
    await team.manager.presses('Create and pay');
    await team.manager.sees('hasn’t appeared in the hosting account');
    team.manager.doesNotSee('wasn’t created');
    expect(team.hosting.refunds(team.account)).toHaveLength(1);
  });

  test('is not sent when the price has changed since the review; the new price has to be confirmed', async () => {
    await using team = await reviewing();
    team.hosting.setPrice('small', '7.77');
    await team.manager.presses('Create and pay');
    await team.manager.sees('changed from 5.90/month to 7.77/month');
    expect(createsOf(team)).toHaveLength(0);
    await team.manager.closes();
    await team.manager.presses('Try again');
    await team.manager.sees('7.77 per month');
    await team.manager.presses('Create and pay');
    await team.manager.sees("I've saved it");
    expect(chargesOf(team)).toMatchObject([{ amountMinor: 777 }]);
  });

  test('that two new servers match is resolved by a manager', async ({ expect }) => {
    const elsewhere = 'the second server is ordered outside of the app';
    await using team = await reviewing({
      ...SHORT_DOUBT,
      exempt: { chargedOnce: elsewhere, passwordsWithCreators: elsewhere },
    });
    team.hosting.faults.add({ on: 'create', kind: 'hang' });
    const panel = team.hosting.createKey(team.account);
    await team.manager.presses('Create and pay');
    await expect.poll(() => createsOf(team).length).toBe(1);
    await fetch(`${team.hosting.baseUrl}/servers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${panel}` },
      body: JSON.stringify({ plan: 'small', location: 'ams', image: 'debian-13', label: 'web-1' }),
    });
    await team.manager.sees('We can’t tell whether');
    await team.manager.closes();
    // A manager of other servers alone may not say whose this one is.
    await grantRole(team, USERS.nora.id, 'manager', { pattern: 'db-*' });
    const limited = rawUser(team, 'nora');
    const [open] = await team.app.ports.ledger.listOpen(TEAM.id);
    await limited.presses('decide', { operationId: open?.id });
    await expect.poll(async () => (await limited.audit())[0]).toMatchObject({ outcome: 'denied' });
    await team.manager.presses('Resolve…');
    await team.manager.fills({ 'Which server was created?': 'web-1' });
    await team.manager.presses('Save');
    await team.manager.sees('We’ve saved your answer');
    await team.manager.closes();
    await team.manager.sees(/@mara marked your order for web-1 as done \(server \d+\)/);
    await team.viewer.sees('@mara marked @mara’s order for web-1 as done');
    team.manager.doesNotSee(/Server ordered|(was|is being) created \(/);
  });
});

describe.concurrent('a renewal', () => {
  async function twoReviews(options: TeamOptions = {}) {
    const team = await startTeam({ servers: 1, ...options });
    for (const person of [team.manager, team.owner]) {
      await person.types('/vps renew web');
      await person.sees('Renew and pay');
    }
    return team;
  }

  test('of one month that two users confirm is paid once, and the second user is told', async ({
    expect,
  }) => {
    await using team = await twoReviews();
    await Promise.all([team.manager.presses('Renew and pay'), team.owner.presses('Renew and pay')]);
    const screens = () => `${team.manager.screen()}${team.owner.screen()}`;
    await expect.poll(screens).toContain('Someone else already confirmed this');
    await expect.poll(screens).toContain('was renewed');
    expect(chargesOf(team)).toHaveLength(1);
  });

  test('shows the new date only once it is paid, since the hosting API counts the month, and no price that the app doesn’t know', async () => {
    await using team = await twoReviews();
    await team.manager.sees('One more month. The hosting API sets the exact date');
    await team.manager.sees('We don’t know the price');
    await team.manager.presses('Renew and pay');
    await team.manager.sees(/was renewed for a month and is now paid until \w+ \d+, \d{4}/);
    expect(chargesOf(team)).toHaveLength(1);
  });

  test('whose answer is lost is found by its new date, and paid once', async () => {
    await using team = await twoReviews();
    team.hosting.faults.add({ on: 'renew', kind: 'lost_after' });
    await team.manager.presses('Renew and pay');
    await team.manager.sees('We’re not sure yet');
    await team.manager.sees('is now paid until');
    expect(team.hosting.requests({ operation: 'renew' })).toHaveLength(1);
  });

  test('that a manager resolves as not carried out can be confirmed again by any manager', async () => {
    await using team = await twoReviews(SHORT_DOUBT);
    team.hosting.faults.add({ on: 'renew', kind: 'lost_before' });
    await team.manager.presses('Renew and pay');
    await team.manager.sees('We’re not sure yet');
    await team.owner.presses('Renew and pay');
    await team.owner.sees('Someone else already confirmed this');
    await team.manager.sees('hasn’t changed');
    await team.manager.closes();
    await team.manager.presses('Resolve…');
    await team.manager.fills({ 'Was it renewed?': 'It wasn’t renewed' });
    await team.manager.presses('Save');
    await team.manager.sees('closed this order');
    await team.owner.closes();
    await team.owner.types('/vps renew web');
    await team.owner.presses('Renew and pay');
    await team.owner.sees('is now paid until');
    expect(chargesOf(team)).toHaveLength(1);
  });

  test('of a server whose label has changed since the review is not sent', async () => {
    await using team = await twoReviews();
    showServersAs(team, { label: 'db-prod' });
    await team.manager.presses('Renew and pay');
    await team.manager.sees('The server is now called db-prod instead of web-1');
    expect(team.hosting.requests({ operation: 'renew' })).toEqual([]);
  });
});
