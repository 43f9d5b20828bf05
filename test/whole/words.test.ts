import { describe, expect, it, vi } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { ERROR_CODES, type ErrorCode } from '../../src/sandbox/hosting/protocol.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { realSystem, type System } from '../../src/system.ts';
import { orderOf } from '../support/acts.ts';
import type { Persona } from '../support/slack/persona.ts';
import { startTeam, type Team } from '../support/team.ts';

/** Makes waiting and measuring so many times faster, including timeouts; the wall clock stays right. */
function startHurried(times: number, servers = 1): Promise<Team> {
  const system: System = {
    ...realSystem,
    elapsed: () => performance.now() * times,
    sleep: (ms, signal) => realSystem.sleep(ms / times, signal),
  };
  // Ten seconds, for a busy machine.
  const config = { HOSTING_TIMEOUT_MS: 10_000 * times };
  const hosting = { requestsPerMinute: 1_000_000 };
  return startTeam({ system, config, servers, balanceMinor: 1_000_000, hosting });
}

/** What must stand in the words for each code of docs/hosting-api.md 7.2. */
const WORDS: Readonly<Record<ErrorCode, RegExp>> = {
  unauthorized: /(does not accept|rejected) the API key.*\/vps connect/s,
  not_allowed: /(not|isn’t) open for this account yet.*first top-up/s,
  bad_request: /rejected the request/,
  not_enough_balance: /balance (of the hosting account )?is too low.*[Tt]op/s,
  limit: /reached its server limit|rejected the request/,
  not_created: /back on the balance|rejected the request/,
  checking: /(has not|hasn’t) confirmed/,
  not_found: /no longer in the hosting account/,
  wrong_state: /current state doesn’t allow|so it can’t be (rebooted|deleted)|can’t be deleted/,
  // An order that the limit keeps waiting for too long expires.
  rate_limited: /(rate limit is used up|wasn’t sent in time).*[Tt]ry again/s,
};

/** Internals of the program, or a code instead of a sentence. */
const NO_WORDS =
  /undefined|NaN|\[object|Error:|HostingError|Refusal|incident|\bat \S+:\d+|unexpected happened|\b[a-z]+_[a-z]+\b/;

/** What is typed. */
const COMMANDS = {
  list: () => '/vps list',
  reboot: (server: string) => `/vps reboot ${server}`,
  create: (server: string) => orderOf(`new-${server}`),
  renew: (server: string) => `/vps renew ${server}`,
  delete: (server: string) => `/vps delete ${server}`,
} as const;

type Verb = keyof typeof COMMANDS;

/** The buttons of the forms that some commands open. */
const BUTTONS: Partial<Record<Verb, string>> = {
  create: 'Create and pay',
  renew: 'Renew and pay',
  delete: 'Delete',
};

async function carryOut(verb: Verb, by: Persona, server: string): Promise<void> {
  await by.types(COMMANDS[verb](server));
  if (verb === 'delete') await by.fills({ [`To confirm, type ${server}`]: server });
  const button = BUTTONS[verb];
  if (button) await by.presses(button);
}

const verbs = Object.keys(COMMANDS) as Verb[];

/** Fails the verb with each of the codes, and requires a sentence for each. */
async function requireWords(verb: Verb, codes: readonly ErrorCode[], times: number): Promise<void> {
  await using team = await startHurried(times, codes.length);
  for (const [place, code] of codes.entries()) {
    const manager = team.slack.as('mara').overlooksOldMessages();
    const on = verb === 'list' ? 'servers' : verb;
    const id = team.hosting.faults.add({ on, kind: 'error', code, times: 'always' });
    await carryOut(verb, manager, `web-${place + 1}`);
    // "The service completes the server or returns the charge" says nothing of a reboot or a delete.
    const isOpen = code === 'checking' && (verb === 'reboot' || verb === 'delete');
    await manager.sees(isOpen ? /We’re not sure whether/ : WORDS[code], 120_000);
    expect(manager.screen(), code).not.toMatch(NO_WORDS);
    if (verb === 'create' && code === 'bad_request') await manager.sees('Try a shorter or simpler label');
    if (verb === 'create' || verb === 'renew') {
      await manager.sees(
        code === 'checking' ? 'can’t be charged twice' : /[Nn]othing was charged|charge is back|not sent/,
      );
    }
    team.hosting.faults.remove(id);
    if (manager.modal()) await manager.closes();
  }
  const spent = team.hosting.charges(team.account).length - team.hosting.refunds(team.account).length;
  // Only what the service itself is still checking is paid for now, and that once.
  expect(spent).toBe(verb === 'create' && codes.includes('checking') ? 1 : 0);
  const open = await team.app.ports.ledger.listOpen(TEAM.id);
  expect(open.filter(({ reason }) => reason?.code !== 'checking')).toEqual([]);
  expect(team.hosting.listServers(team.account)).toHaveLength(codes.length);
}

describe.concurrent('a failed command', () => {
  it.concurrent.each(
    verbs,
  )('with a %s is explained in a sentence, whatever code the hosting API returns', (verb) =>
    requireWords(
      verb,
      ERROR_CODES.filter((code) => code !== 'rate_limited'),
      10,
    ));

  // The minutes until an order is given up pass faster here.
  it.concurrent.each([
    'list',
    'reboot',
    'create',
  ] as const)('with a %s that the rate limit holds up for too long is explained in a sentence', (verb) =>
    requireWords(verb, ['rate_limited'], 15));

  it.concurrent.each([
    'list',
    'reboot',
    'create',
  ] as const)('with a %s is explained when the hosting API can’t be reached, and nothing stays unconfirmed', async (verb) => {
    await using team = await startHurried(10);
    await team.hosting.close();
    await team.manager.types(COMMANDS[verb]('web-1'));
    await team.manager.sees(
      /couldn’t be reached in time, so nothing was sent|wasn’t rebooted: .* couldn’t be reached/,
    );
    expect(team.manager.screen()).not.toMatch(NO_WORDS);
    expect(await team.app.ports.ledger.listOpen(TEAM.id)).toEqual([]);
  });
});

it.concurrent('the rate limit is reported to users who have to wait, and they get their answer, also while a colleague asks for too much', async () => {
  await using team = await startHurried(3);
  const { apiCalls, hostingOf } = team.app.ports;
  const take = vi.spyOn(apiCalls, 'take');
  const flooding = hostingOf(new Secret(team.apiKey), TEAM.id, USERS.mara.id);
  await flooding.fetchCatalog();
  const account = take.mock.calls[0]?.[0].account ?? [''];
  // Another process on the same store is using up the minute.
  const others = Array.from({ length: 300 }, (_, index) => `other-${index}`);
  for (const id of others)
    await apiCalls.take(
      { id, account, workspaceId: '' },
      { limit: Number.POSITIVE_INFINITY, maxHoldMs: 110_000 },
    );
  const [{ id = 0 } = {}] = team.hosting.listServers(team.account);
  const calls = Array.from({ length: 30 }, () => flooding.changePower('reboot', id));
  const flooded = Promise.allSettled(calls);
  await team.viewer.types('/vps list');
  await team.viewer.sees('hit the hosting API’s rate limit');
  await team.operator.types('/vps reboot web-1');
  await apiCalls.release(others, 110_000);
  await team.viewer.sees('1 server');
  await team.operator.sees(/otto (is rebooting|rebooted) web-1/);
  expect(team.viewer.screen()).not.toMatch(NO_WORDS);
  const refused = (await flooded).filter(({ status }) => status === 'rejected');
  expect(refused.map((one) => one.status === 'rejected' && one.reason.code)).toEqual(
    Array.from({ length: 5 }, () => 'too_many_waiting'),
  );
});

describe.concurrent('a form that Slack refuses', () => {
  it('leaves no user with a spinner', async () => {
    await using team = await startTeam({ servers: 1 });
    for (const typed of ['create', 'renew web-1', 'delete web-1']) {
      team.slack.faults.failMethod('views.update', 'invalid_arguments', 1);
      await team.manager.types(`/vps ${typed}`);
      await team.manager.sees('Slack didn’t accept this form');
      expect(team.manager.modal()?.shown).not.toContain('Loading…');
      await team.manager.closes();
    }
  });
});

describe.concurrent('a typing error', () => {
  it('is answered with the nearest match', async () => {
    await using team = await startTeam({ servers: 3 });
    for (const [typed, words] of [
      ['lst', 'Did you mean /vps list'],
      ['show wbe-1', 'Did you mean web-1'],
      ['reboot', 'Reboot which server?'],
      ['create plan=smal location=ams image=debian-13 label=x', 'Did you mean small'],
      [`reboot ${Array.from({ length: 21 }, (_, n) => `s${n}`).join(' ')}`, 'up to 20 servers at once'],
      ['help reboot', 'Requires the operator role'],
      ['', '/vps help shows what else you can do'],
      ['restrat web-1', 'Did you mean /vps restart'],
    ] as const) {
      const fresh = team.manager.overlooksOldMessages();
      await fresh.types(`/vps ${typed}`);
      await fresh.sees(words);
      if (fresh.modal()) await fresh.closes();
    }
    await team.owner.types('/vps access grant @nora operater');
    await team.owner.sees('Did you mean operator?');
    await team.owner.types('/vps access grant nobody operator');
    await team.owner.sees('“nobody” isn’t a user');
  });
});

describe.concurrent('a command in other words', () => {
  it('does what its user means', async () => {
    await using team = await startTeam({ servers: 1 });
    for (const [typed, words] of [
      ['restart web-1', 'rebooted web-1'],
      ['shutdown web-1', 'stopped web-1'],
      ['ls', 'web-1'],
      ['servers web', 'web-1'],
      ['web-1', 'ssh root@'],
      ['198.18.3.233', 'ssh root@'],
      ['rm web-1', 'no refund'],
      ['new', 'Create a server'],
      ['prices', '6 plans'],
      ['config', 'You need the owner role'],
    ] as const) {
      const fresh = team.manager.overlooksOldMessages();
      await fresh.types(`/vps ${typed}`);
      await fresh.sees(words);
      if (fresh.modal()) await fresh.closes();
    }
  });

  it('shows no server to a user without a role, and doesn’t say whether there is one', async () => {
    await using team = await startTeam({ servers: 1 });
    const nora = team.slack.as('nora');
    for (const typed of ['web-1', 'web-9']) {
      await nora.overlooksOldMessages().types(`/vps ${typed}`);
      await nora.sees(`There’s no ${typed} command`);
    }
  });
});

it.concurrent('help shows eight commands, how to act from an alert and in a thread, and where the rest is', async () => {
  await using team = await startTeam();
  await team.owner.types('/vps help');
  await team.owner.sees('choose Manage server…');
  await team.owner.sees('@vps reboot web-1');
  const shown = team.owner.screen().match(/\/vps [a-z]+/g) ?? [];
  const eight = ['list', 'show', 'reboot', 'create', 'renew', 'delete', 'access', 'settings'];
  expect(shown.slice(0, 8)).toEqual(eight.map((name) => `/vps ${name}`));
  await team.owner.overlooksOldMessages().types('/vps help all');
  for (const name of ['workflow', 'audit', 'reminders']) await team.owner.sees(`/vps ${name}`);
});
