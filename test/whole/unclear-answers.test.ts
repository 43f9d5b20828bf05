import { describe, expect, test } from 'vitest';
import type { FaultRule } from '../../src/sandbox/hosting/faults.ts';
import { startTeam, type Team } from '../support/team.ts';

// Answers that the hosting API's document doesn't show (docs/hosting-api.md 4.12, 4.13, 7.3). The service does the work
// and answers in words of its own; what users are told must be true whatever it meant.

const ORDER = '/vps create plan=small location=ams image=debian-13 label=web-1';

async function startWithServers(count: number): Promise<Team> {
  const team = await startTeam();
  team.hosting.seedServers(team.account, count, 'web');
  return team;
}

function idOf({ hosting, account }: Team): number {
  return hosting.listServers(account)[0]?.id ?? 0;
}

async function orders(team: Team) {
  const manager = team.slack.as('mara').in('#ops');
  await manager.types(ORDER);
  await manager.presses('Create and pay');
  return manager;
}

async function renews(team: Team) {
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps renew web-1');
  await manager.presses('Renew and pay');
  return manager;
}

const said = (status: number, body: unknown): Omit<FaultRule, 'on'> => ({
  kind: 'other_answer',
  status,
  body,
});

/** Errors after a charge, in which a documented code stands beside other words. */
const CODES_BESIDE_OTHERS = [
  said(503, { code: 'supplier_error', cause: 'rate_limited' }),
  said(503, { code: 'supplier_error', reason: 'rate_limited' }),
  said(500, { error: 'upstream_error', detail: 'rate_limited' }),
  said(500, { code: 'upstream_error', cause: 'limit' }),
  said(500, { code: 'limit', cause: 'not_created' }),
  said(429, { message: 'Too many requests' }),
];

/** A success in the status, and another word in the body. */
const OTHER_WORDS = [
  { status: 'rejected' },
  { result: 'error' },
  { accepted: false },
  { statusCode: 409 },
  { task: { id: 991 } },
];

describe.concurrent('an order that was charged, and whose error has a documented code next to other text', () => {
  test.each(
    CODES_BESIDE_OTHERS,
  )('is sent once and found, and no message says that nothing was charged: %o', async (rule) => {
    await using team = await startTeam();
    team.hosting.faults.add({ on: 'create', ...rule });
    const manager = await orders(team);
    await manager.sees('was created');
    expect(team.hosting.requests({ operation: 'create' })).toHaveLength(1);
    expect(team.hosting.charges(team.account)).toHaveLength(1);
    expect(team.hosting.listServers(team.account)).toHaveLength(1);
    expect(manager.screen()).not.toMatch(/nothing was charged|wasn’t created/i);
  });

  test.each(CODES_BESIDE_OTHERS)('pays one month of a renewal: %o', async (rule) => {
    await using team = await startWithServers(1);
    team.hosting.faults.add({ on: 'renew', ...rule });
    const manager = await renews(team);
    await manager.sees(/was renewed|renewed web-1/);
    expect(team.hosting.requests({ operation: 'renew' })).toHaveLength(1);
    expect(team.hosting.charges(team.account)).toHaveLength(1);
    expect(manager.screen()).not.toMatch(/nothing was charged|wasn’t renewed/i);
  });
});

describe.concurrent('a 2xx answer with undocumented fields in its body', () => {
  test.each(OTHER_WORDS)('is no proof that a server was created: %o', async (beside) => {
    await using team = await startTeam();
    // The service did nothing, and says so in words of its own.
    const body = { id: 4711, state: 'creating', root_password: 'never-used', ...beside };
    team.hosting.faults.add({ on: 'create', kind: 'other_answer_before', body });
    const manager = await orders(team);
    await manager.sees('We’re not sure yet whether');
    expect(manager.screen()).not.toMatch(/(?<!whether )web-1 (?:was|is being) created/);
  });

  test.each(OTHER_WORDS)('is no proof that a server was renewed: %o', async (beside) => {
    await using team = await startWithServers(1);
    const body = { id: idOf(team), paid_until: '2099-01-01T00:00:00Z', ...beside };
    team.hosting.faults.add({ on: 'renew', kind: 'other_answer_before', body });
    const manager = await renews(team);
    await manager.sees('We’re not sure yet whether');
    expect(manager.screen()).not.toMatch(/(?<!whether )web-1 was renewed/);
  });

  test.each(OTHER_WORDS)('is no proof that a server was stopped: %o', async (beside) => {
    await using team = await startWithServers(1);
    const body = { id: idOf(team), state: 'stopped', ...beside };
    team.hosting.faults.add({ on: 'stop', kind: 'other_answer_before', body });
    const operator = team.slack.as('otto').in('#ops');
    await operator.types('/vps stop web-1');
    await operator.sees('We’re not sure whether web-1 was stopped');
  });
});

describe.concurrent('an answer to a power action that proves nothing and denies nothing', () => {
  test.each([
    [
      'with an undocumented message',
      { message: 'Server rebooted' },
      'The hosting API says: “Server rebooted”',
    ],
    [
      'with a message that Slack would format',
      { detail: 'Done, <!channel> & co' },
      'says: “Done, <!channel> & co”',
    ],
    ['with an undocumented flag', { success: true }, 'is rebooting web-1…'],
    ['with an empty object', {}, 'is rebooting web-1…'],
  ])('is taken as accepted, and the server is followed: %s', async (_, body, words) => {
    await using team = await startWithServers(1);
    team.hosting.faults.add({ on: 'reboot', kind: 'other_answer', body });
    const operator = team.slack.as('otto').in('#ops');
    await operator.types('/vps reboot web-1');
    await operator.sees(words);
    expect(operator.screen()).not.toContain('not sure');
  });
});

/** How a list that lacks a server may show that: in fields beside it, or in headers. */
const SIGNS: readonly Pick<FaultRule, 'beside' | 'headers'>[] = [
  { headers: { 'x-pagination': '{"total":4}' } },
  { headers: { 'x-total': '4' } },
  { headers: { 'next-token': 'abc' } },
  { headers: { link: "</v2/servers?page=2>; rel='next'" } },
  { beside: { count: 3, LastEvaluatedKey: { id: 3 } } },
  { beside: { warnings: ['one shard did not answer'] } },
  { beside: { truncated: 'yes' } },
  { beside: { has_more: true } },
];

describe.concurrent('a delete that the API has only begun', () => {
  test.each(SIGNS)('is not reported as done because of a list that may be incomplete: %o', async (signs) => {
    await using team = await startWithServers(1);
    const manager = team.slack.as('mara').in('#ops');
    await manager.types('/vps delete web-1');
    await manager.fills({ 'To confirm, type web-1': 'web-1' });
    team.hosting.faults.add({ on: 'delete', ...said(202, { id: idOf(team), state: 'deleting' }) });
    team.hosting.faults.add({ on: 'servers', kind: 'other_answer', times: 'always', ...signs });
    await manager.presses('Delete');
    await manager.sees('We’re not sure whether web-1 was deleted');
    expect(manager.screen()).not.toMatch(/no longer in the hosting account|(?<!whether )web-1 was deleted/);
  });
});

describe.concurrent('a root password under another name than the documented one', () => {
  test('reaches the server’s creator in the unchanged answer', async () => {
    await using team = await startTeam({ hosting: { answers: { passwordField: 'rootPassword' } } });
    const manager = await orders(team);
    await manager.sees('was created');
    const [server] = team.hosting.listServers(team.account);
    await manager.closes();
    await manager.types('/vps password web-1');
    await manager.sees(JSON.stringify(team.hosting.passwordOf(server?.id ?? 0)).slice(1, -1));
    expect(team.hosting.requests({ operation: 'create' })).toHaveLength(1);
  });
});

test('a price is shown in the currency that the plan names, not in the operator’s', async () => {
  await using team = await startTeam({ hosting: { answers: { prices: 'in_usd' } } });
  const manager = team.slack.as('mara').in('#ops');
  await manager.types(ORDER);
  await manager.sees(/\d\.\d\d USD per month/);
  await manager.closes();
  await manager.types('/vps catalog');
  await manager.sees(/\d\.\d\d USD/);
  expect(manager.screen()).not.toContain('EUR');
});
