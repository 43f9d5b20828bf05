import { expect, test } from 'vitest';
import type { FaultRule } from '../../src/sandbox/hosting/faults.ts';
import { fillDelete, orderOf, passwordOf } from '../support/acts.ts';
import { startTeam, type Team } from '../support/team.ts';

// Answers that the hosting API's document doesn't show (docs/hosting-api.md 4.12, 4.13, 7.3). The service does the work
// and answers in words of its own; what users are told must be true whatever it meant.

const startWithServers = (servers: number) => startTeam({ servers, hasRateLimits: false });

function idOf({ hosting, account }: Team, label = 'web-1'): number {
  return hosting.listServers(account).find((server) => server.label === label)?.id ?? 0;
}

async function orders(team: Team, label = 'web-1') {
  const manager = team.slack.as('mara').overlooksOldMessages();
  await manager.types(orderOf(label));
  await manager.presses('Create and pay');
  return manager;
}

async function renews(team: Team, label: string) {
  const manager = team.slack.as('mara').overlooksOldMessages();
  await manager.types(`/vps renew ${label}`);
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

test.concurrent('an order that was charged, and whose error has a documented code next to other text, is sent once and found, and no message says that nothing was charged', async () => {
  await using team = await startWithServers(CODES_BESIDE_OTHERS.length);
  for (const [place, rule] of CODES_BESIDE_OTHERS.entries()) {
    team.hosting.faults.add({ on: 'create', ...rule });
    const manager = await orders(team, `new-${place + 1}`);
    await manager.sees(`new-${place + 1} was created`);
    expect(manager.screen(), JSON.stringify(rule)).not.toMatch(/nothing was charged|wasn’t created/i);
    await manager.closes();
    team.hosting.faults.add({ on: 'renew', ...rule });
    await renews(team, `web-${place + 1}`);
    await manager.sees(new RegExp(`web-${place + 1} was renewed|renewed web-${place + 1}`));
    expect(manager.screen(), JSON.stringify(rule)).not.toMatch(/nothing was charged|wasn’t renewed/i);
    await manager.closes();
  }
  const times = CODES_BESIDE_OTHERS.length;
  expect(team.hosting.requests({ operation: 'create' })).toHaveLength(times);
  expect(team.hosting.requests({ operation: 'renew' })).toHaveLength(times);
  expect(team.hosting.charges(team.account)).toHaveLength(2 * times);
  expect(team.hosting.listServers(team.account)).toHaveLength(2 * times);
});

test.concurrent('a 2xx answer with undocumented fields in its body is no proof that a server was created, renewed or stopped', async () => {
  await using team = await startWithServers(OTHER_WORDS.length);
  for (const [place, beside] of OTHER_WORDS.entries()) {
    const [created, label] = [`new-${place + 1}`, `web-${place + 1}`];
    // The service did nothing, and says so in words of its own.
    const answers = (on: 'create' | 'renew' | 'stop', body: object) =>
      team.hosting.faults.add({ on, kind: 'other_answer_before', body: { ...body, ...beside } });
    const id = idOf(team, label);
    answers('create', { id: 4711, state: 'creating', root_password: 'never-used' });
    const manager = await orders(team, created);
    await manager.sees(`We’re not sure yet whether ${created}`);
    expect(manager.screen()).not.toMatch(new RegExp(`(?<!whether )${created} (?:was|is being) created`));
    await manager.closes();
    answers('renew', { id, paid_until: '2099-01-01T00:00:00Z' });
    await renews(team, label);
    await manager.sees(`We’re not sure yet whether ${label}`);
    expect(manager.screen()).not.toMatch(new RegExp(`(?<!whether )${label} was renewed`));
    await manager.closes();
    answers('stop', { id, state: 'stopped' });
    await team.operator.types(`/vps stop ${label}`);
    await team.operator.sees(`We’re not sure whether ${label} was stopped`);
  }
});

test.concurrent('an answer to a power action that proves nothing and denies nothing is taken as accepted, and the server is followed', async () => {
  await using team = await startWithServers(4);
  for (const [label, body, words] of [
    ['web-1', { message: 'Server rebooted' }, 'The hosting API says: “Server rebooted”'],
    ['web-2', { detail: 'Done, <!channel> & co' }, 'says: “Done, <!channel> & co”'],
    ['web-3', { success: true }, 'is rebooting web-3…'],
    ['web-4', {}, 'is rebooting web-4…'],
  ] as const) {
    team.hosting.faults.add({ on: 'reboot', kind: 'other_answer', body });
    await team.operator.types(`/vps reboot ${label}`);
    await team.operator.sees(words);
  }
  expect(team.operator.screen()).not.toContain('not sure');
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

test.concurrent('a delete that the API has only begun is not reported as done because of a list that may be incomplete', async () => {
  await using team = await startWithServers(SIGNS.length);
  for (const [place, signs] of SIGNS.entries()) {
    const label = `web-${place + 1}`;
    const manager = team.slack.as('mara').overlooksOldMessages();
    await fillDelete(manager, label);
    team.hosting.faults.add({ on: 'delete', ...said(202, { id: idOf(team, label), state: 'deleting' }) });
    team.hosting.faults.add({ on: 'servers', kind: 'other_answer', times: 'always', ...signs });
    await manager.presses('Delete');
    await manager.sees(`We’re not sure whether ${label} was deleted`);
    expect(manager.screen(), JSON.stringify(signs)).not.toMatch(
      new RegExp(`${label}.* no longer in the hosting account|(?<!whether )${label} was deleted`),
    );
    await manager.closes();
    team.hosting.faults.clear();
  }
});

test.concurrent('a root password under another name than the documented one reaches the server’s creator in the unchanged answer', async () => {
  await using team = await startTeam({ hosting: { answers: { passwordField: 'rootPassword' } } });
  const manager = await orders(team);
  await manager.sees('was created');
  await manager.closes();
  await manager.overlooksOldMessages().types('/vps password web-1');
  await manager.sees(JSON.stringify(passwordOf(team)).slice(1, -1));
  expect(team.hosting.requests({ operation: 'create' })).toHaveLength(1);
});

test.concurrent('a price is shown in the currency that the plan names, not in the operator’s', async () => {
  await using team = await startTeam({ hosting: { answers: { prices: 'in_usd' } } });
  await team.manager.types(orderOf('web-1'));
  await team.manager.sees(/\d\.\d\d USD per month/);
  await team.manager.closes();
  await team.manager.types('/vps catalog');
  await team.manager.sees(/\d\.\d\d USD/);
  expect(team.manager.screen()).not.toContain('EUR');
});
