import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { DAY_MS, MINUTE_MS } from '../../../src/core/time.ts';
import { OPERATION } from '../../../src/purchases/operation.ts';
import type { FaultRule } from '../../../src/sandbox/hosting/faults.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { createServer, orderOf } from '../../support/acts.ts';
import { until } from '../../support/eventually.ts';
import { type OrderingTeam, startOrdering } from '../../support/ordering-team.ts';
import { startTeam, type Team } from '../../support/team.ts';

const LOSSES: readonly (readonly [string, string, (team: OrderingTeam) => Promise<unknown>])[] = [
  ['is removed', 'no hosting account is connected', (team) => team.app.ports.apiKeys.remove(TEAM.id)],
  ['is revoked', 'key', async (team) => team.hosting.accounts.revokeKey(team.account, team.apiKey)],
];

test.concurrent.each(
  LOSSES,
)('an unconfirmed order whose API key %s goes to a manager, who resolves it', async (_what, words, lose) => {
  await using team = await startOrdering({
    settings: { HOSTING_ACCOUNT_URL: 'https://hosting.example/account' },
  });
  team.hosting.faults.add({ on: 'create', kind: 'lost_before' });
  await team.manager.presses('Create and pay');
  await team.manager.sees('We’re not sure yet');
  await lose(team);
  team.system.move(31 * MINUTE_MS);
  await team.manager.sees('We can’t tell whether');
  await team.manager.sees(words);
  await team.manager.closes();
  expect(team.manager.links()).toContain('https://hosting.example/account');
  await team.manager.presses('Resolve…');
  await team.manager.fills({ 'Which server was created?': 'None: it wasn’t created' });
  await team.manager.presses('Save');
  await team.manager.sees('We’ve saved your answer');
  expect(await team.listOpen()).toEqual([]);
  // Neither the label nor the budget is held any longer.
  expect((await team.app.ports.ledger.sumSpent(TEAM.id, '', 0)).workspace).toBe(0);
  await team.manager.closes();
  const key = new Secret(team.hosting.createKey(team.account, { beforeTopUp: true }));
  await team.app.ports.apiKeys.put(TEAM.id, key, team.approver.id, Date.now());
  team.manager.overlooksOldMessages();
  await createServer(team.manager);
  expect(team.charges()).toBe(1);
});

test.concurrent('an order that waits to be sent while the clock is set back is refused, and is paid when it is ordered again', async () => {
  await using team = await startOrdering();
  const lists = () => team.hosting.requests({ operation: 'servers' }).length;
  const before = lists();
  team.hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: 500 });
  await team.manager.presses('Create and pay');
  await until(() => lists() > before);
  team.system.stepWall(-60 * MINUTE_MS);
  await team.manager.sees('wasn’t created, and nothing was charged');
  expect(team.creates()).toBe(0);
  // Slack's requests are signed with its own time, which the app's clock has to agree with again.
  team.system.stepWall(56 * MINUTE_MS);
  await team.manager.closes();
  await team.manager.presses('Try again');
  await team.manager.presses('Create and pay');
  await team.manager.sees("I've saved it");
  expect(team.charges()).toBe(1);
  expect(await team.listOpen()).toEqual([]);
});

/** The manager has ordered web-1, and the answer leaves open whether it was created. */
async function startUnconfirmed(fault: Omit<FaultRule, 'on'> = CHECKING): Promise<OrderingTeam> {
  const team = await startOrdering();
  team.hosting.faults.add({ on: 'create', ...fault });
  await team.manager.presses('Create and pay');
  await team.manager.sees('We’re not sure yet');
  return team;
}

const CHECKING = { kind: 'checking_completes', afterMs: 60 * MINUTE_MS } as const;

test.concurrent.each<[string, (team: OrderingTeam) => void]>([
  ['after DOUBT_MINUTES', ({ system }) => system.move(31 * MINUTE_MS)],
  ['when the clock jumps ahead by a year', ({ system }) => system.stepWall(365 * DAY_MS)],
])('an unconfirmed order goes to a manager %s, stays open, and its outcome is still reported if it appears later', async (_when, passes) => {
  await using team = await startUnconfirmed();
  passes(team);
  await team.manager.sees('We can’t rule out a charge');
  expect(await team.listOpen()).toMatchObject([{ state: 'unconfirmed', needsDecision: true }]);
  team.manager.doesNotSee(/not created|wasn’t created|order again|money is back|refunded/);
  team.hosting.clock.advance(60 * MINUTE_MS);
  team.system.move(DAY_MS);
  await team.manager.sees(/(was|is being) created \(/);
  expect(team.charges()).toBe(1);
});

test.concurrent('a server that appears after another manager closed its order as not created is reported to both, with the charge', async () => {
  await using team = await startUnconfirmed();
  team.system.move(31 * MINUTE_MS);
  await team.manager.sees('We can’t rule out a charge');
  await team.approver.types('/vps status');
  await team.approver.presses('Resolve web-1…');
  await team.approver.fills({ 'Which server was created?': 'None: it wasn’t created' });
  await team.approver.presses('Save');
  await team.approver.sees('We’ll tell @mara the result');
  await team.approver.closes();
  team.hosting.clock.advance(60 * MINUTE_MS);
  team.system.move(60 * MINUTE_MS);
  for (const reader of [team.manager, team.approver])
    await reader.sees('Check the hosting account for the charge');
  expect(team.charges()).toBe(1);
  expect(
    (await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 9 })).map(({ code }) => code),
  ).toContain('found_late');
});

test.concurrent('an unconfirmed order goes to a manager after DOUBT_MINUTES also while the hosting API is down', async () => {
  await using team = await startUnconfirmed({ kind: 'lost_before' });
  team.hosting.faults.add({ on: 'servers', kind: 'html', times: 'always' });
  team.system.move(31 * MINUTE_MS);
  await team.manager.sees('the hosting API didn’t answer. We couldn’t list all servers of the account');
  team.manager.doesNotSee('hasn’t appeared');
  expect(await team.listOpen()).toMatchObject([{ state: 'unconfirmed', needsDecision: true }]);
});

test.concurrent('an unconfirmed order goes to a manager after DOUBT_MINUTES although the clock is set back meanwhile', async ({
  expect,
}) => {
  await using team = await startUnconfirmed({ kind: 'checking_completes', afterMs: DAY_MS });
  const lists = () => team.hosting.requests({ operation: 'servers' }).length;
  const before = lists();
  await expect.poll(lists).toBeGreaterThan(before);
  // A look that has not ended would plan the next one by the clock that is moved here.
  const owners = async () =>
    (await team.app.ports.jobStore.list(OPERATION, TEAM.id)).map(({ owner }) => owner);
  await expect.poll(owners).toEqual(['']);
  team.system.move(20 * MINUTE_MS);
  team.system.stepWall(-15 * MINUTE_MS);
  team.system.move(11 * MINUTE_MS);
  await team.manager.sees('We can’t rule out a charge');
  expect(await team.listOpen()).toMatchObject([{ state: 'unconfirmed', needsDecision: true }]);
  expect(team.charges()).toBe(1);
});

/** Long before the next look that the app had planned. */
const SOON = 15_000;

test.concurrent('after a restart, the app looks for an old unconfirmed order within seconds', async ({
  expect,
}) => {
  await using team = await startUnconfirmed();
  // After an hour the app looks every five minutes.
  team.system.move(60 * MINUTE_MS);
  await team.manager.sees('We can’t rule out a charge');
  team.hosting.clock.advance(2 * 3_600_000);
  await team.restart();
  const charged = async () => (await team.app.ports.ledger.sumSpent(TEAM.id, '', 0)).workspace;
  await expect.poll(charged, { timeout: SOON }).toBe(590);
  expect(team.hosting.requests({ operation: 'create' })).toHaveLength(1);
});

const MOST = 16_384;
const INTRODUCTION = 'No root password was recognized. The hosting API answered:\n';

/** The manager orders it, and the API sends this answer, in which no password is recognized. */
async function orders(team: Team, label: string, body: string | Uint8Array) {
  team.hosting.faults.add({ on: 'create', kind: 'garbage', garbage: body });
  const manager = team.slack.as('mara').overlooksOldMessages();
  await manager.types(orderOf(label));
  await manager.presses('Create and pay');
  await until(async () => (await heldBy(team)).some((held) => held.label === label));
  await manager.sees("I've saved it");
  await manager.closes();
  return manager;
}

async function ordered(body: string) {
  const team = await startTeam();
  return Object.assign(team, { manager: await orders(team, 'web-1', body) });
}

const heldBy = (team: Team) => team.app.ports.passwords.listHeld('T0SANDBOX');

type User = ReturnType<ReturnType<Team['slack']['as']>['in']>;

/** The preformatted text of each message that has some. */
function secretsSeenBy(user: User): string[] {
  return user
    .messages()
    .map(({ blocks }) => textsIn(blocks.filter(({ type }) => type === 'rich_text')).join(''))
    .filter((text) => text !== '');
}

function textsIn(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(textsIn);
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) =>
    name === 'text' && typeof value === 'string' ? [value] : textsIn(value),
  );
}

const emoji = (length: number) => `x${'🔑'.repeat(length / 2)}`.slice(0, length - 1);
const BODIES = [
  ['of characters that Slack escapes', '<&>'.repeat(5461), '<&>'.repeat(5461)],
  ['of characters of four bytes', emoji(MOST), emoji(MOST)],
  ['of bytes that are no UTF-8', Buffer.alloc(MOST, 0xe4), 'ä'.repeat(MOST)],
  [
    'of 20,000 characters (cut, with a note)',
    'c'.repeat(20_000),
    `${'c'.repeat(MOST)}\n[The rest, ${20_000 - MOST} characters, was too long to keep.]`,
  ],
] as const;

describe.concurrent('an answer in which no root password is recognized', () => {
  test('is shown whole to its creator alone, in three messages at most', async ({ expect }) => {
    await using team = await startTeam({ hasRateLimits: false });
    for (const [at, [name, body, kept]] of BODIES.entries()) {
      const label = `web-${at}`;
      const held = async () => (await heldBy(team)).find((each) => each.label === label);
      const manager = await orders(team, label, body);
      expect(secretsSeenBy(manager).join(''), name).toBe(`${INTRODUCTION}${kept}`);
      expect(await held()).toMatchObject({ heldUntil: undefined });
      manager.reloads();
      manager.overlooksOldMessages();
      await manager.types(`/vps password ${label}`);
      await manager.sees("I've saved it");
      const seen = secretsSeenBy(manager);
      expect(seen.join(''), name).toBe(`${INTRODUCTION}${kept}`);
      expect(seen.length).toBeLessThanOrEqual(3);
      const posted = manager.messages().filter(({ ephemeral }) => !ephemeral);
      expect(posted.flatMap(({ blocks }) => blocks.map(({ type }) => type))).not.toContain('rich_text');
      await expect.poll(held).toMatchObject({ heldUntil: expect.any(Number) });
    }
    for (const name of ['olga', 'otto', 'vera'] as const)
      expect(secretsSeenBy(team.slack.as(name))).toEqual([]);
  });

  test('is held without a time limit, and its creator is told to ask again, until Slack has accepted the last part', async ({
    expect,
  }) => {
    await using team = await ordered('d'.repeat(MOST));
    const { manager } = team;
    manager.reloads();
    manager.overlooksOldMessages();
    team.slack.faults.failMethod('chat.postEphemeral', 'internal_error');
    for (const taken of [1, 2]) {
      team.slack.faults.breakReplyUrls(500, 1, taken);
      await manager.types('/vps password web-1');
      const dm = team.slack.as('mara').in('dm');
      await expect
        .poll(() => dm.messages().filter(({ shown }) => shown.includes('If you don’t see all of it')).length)
        .toBe(taken);
      await manager.sees(`part ${taken} of 3`);
      manager.doesNotSee(`part ${taken + 1} of 3`);
      expect((await heldBy(team))[0]).toMatchObject({ heldUntil: undefined });
      manager.overlooksOldMessages();
    }
    await manager.types('/vps password web-1');
    await manager.sees('part 3 of 3');
    await expect.poll(() => heldBy(team)).toMatchObject([{ heldUntil: expect.any(Number) }]);
    await manager.presses("I've saved it");
    await manager.sees('password erased');
    expect(await heldBy(team)).toEqual([]);
  });

  test('is shown in the Messages tab when its creator asks on Home, which says so once', async () => {
    await using team = await ordered('e'.repeat(MOST));
    const dm = team.slack.as('mara').in('dm');
    await dm.opensHome();
    await dm.presses('Show password');
    await dm.sees('part 3 of 3');
    await dm.sees('in the Messages tab, visible only to you');
    expect(dm.home()?.shown.match(/visible only to you/g)).toHaveLength(1);
    expect(JSON.stringify(dm.home()?.blocks)).not.toContain('rich_text');
    expect(secretsSeenBy(dm).join('')).toBe(`${INTRODUCTION}${'e'.repeat(MOST)}`);
  });
});

/** Longer than a user waits before they order again. */
const WITHIN = 12_000;

test.concurrent('a create behind one that hangs is reported as not sent yet within seconds, and paid once', async ({
  expect,
}) => {
  await using team = await startTeam({ settings: { HOSTING_TIMEOUT_MS: '20000' } });
  const { owner: first, manager: second } = team;
  for (const [user, label] of [
    [first, 'one'],
    [second, 'two'],
  ] as const) {
    await user.types(orderOf(label));
    await user.sees('Create and pay');
  }
  const creates = () => team.hosting.requests({ operation: 'create' });
  team.hosting.faults.add({ on: 'create', kind: 'slow', delayMs: 10_000 });
  await first.presses('Create and pay');
  await expect.poll(() => creates().length).toBe(1);
  await second.presses('Create and pay');
  await second.sees(/order for two hasn’t been sent yet: this is taking longer than usual/, WITHIN);
  expect(creates()).toHaveLength(1);
  first.doesNotSee('hasn’t been sent yet');
  await expect.poll(() => team.hosting.charges(team.account).length).toBe(2);
  await second.sees('Root password', WITHIN);
  expect(creates()).toHaveLength(2);
});
