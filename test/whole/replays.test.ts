import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/sandbox/slack/deliver.ts';
import { createServer, deleteServer, orderOf, renewServer } from '../support/acts.ts';
import { until } from '../support/eventually.ts';
import { changesSeen, rawUser } from '../support/raw-user.ts';
import { startTeam, type Team } from '../support/team.ts';

/** Everything that changes something, done once by those who may. */
async function doEverything(team: Team): Promise<readonly Delivery[]> {
  team.hosting.seedServers(team.account, 3, 'web');
  await team.operator.types('/vps reboot web-1');
  await team.operator.sees('rebooted web-1');
  await team.operator.types('/vps show web-2');
  await team.operator.sees('web-2');
  await team.operator.presses('Stop');
  await team.operator.sees('stopped web-2');
  const { manager } = team;
  await createServer(manager, 'new-1');
  await manager.sees('@mara created new-1. Ready: ssh root@');
  await manager.types('/vps password new-1');
  await manager.sees('Root password');
  await manager.presses("I've saved it");
  await renewServer(manager);
  await deleteServer(manager, 'web-3');
  await team.owner.types('/vps access grant @nora viewer');
  await team.owner.sees('is now a viewer');
  await team.owner.types('/vps connect');
  await team.owner.sees('Enter the API key');
  return [
    'command /vps reboot',
    'block_actions stop',
    'view_submission create_review',
    'command /vps password',
    'block_actions password_saved',
    'view_submission renew_review',
    'view_submission delete',
    'command /vps access grant',
    'command /vps connect',
  ].map((what) => team.slack.lastDelivery(what));
}

describe.concurrent('a signed request that comes again', () => {
  it('changes nothing a second time, is refused with an explanation, and audited', async () => {
    await using team = await startTeam();
    const all = await doEverything(team);
    const changes = changesSeen(team).length;
    const charges = team.hosting.charges(team.account).length;
    const deniedOf = async () => {
      const names = ['olga', 'mara', 'otto'] as const;
      const audits = await Promise.all(names.map((name) => rawUser(team, name).audit()));
      return audits.flat().filter(({ code }) => code === 'already_handled');
    };
    const words = async (delivery: Delivery): Promise<string> => {
      const answers = team.slack.traffic().length;
      const { status, response } = await team.slack.redeliver(delivery);
      expect(status).toBe(200);
      if (/You won’t be charged twice|already handled/.test(response)) return response;
      // What came of an earlier order may reach its user in between.
      const heard = () =>
        team.slack
          .traffic()
          .slice(answers)
          .find(({ from, request }) => from === 'app' && /already(%20|\+| )handled/.test(request));
      await until(() => heard() !== undefined);
      return decodeURIComponent((heard()?.request ?? '').replaceAll('+', ' '));
    };
    let denied = 0;
    for (const round of ['at once', 'after a restart']) {
      for (const delivery of all) {
        const said = await words(delivery);
        const isPurchase = delivery.what.includes('_review');
        expect(said, `${delivery.what}, ${round}`).toContain(
          isPurchase ? 'You won’t be charged twice' : 'already handled',
        );
        denied += isPurchase ? 0 : 1;
        expect(await deniedOf()).toHaveLength(denied);
      }
      await team.restart();
    }
    expect(changesSeen(team)).toHaveLength(changes);
    expect(team.hosting.charges(team.account)).toHaveLength(charges);
  });

  it('is refused while the first delivery is still being carried out', async ({ expect }) => {
    await using team = await startTeam({
      servers: 1,
      exempt: { slackRulesKept: 'all ten have one response_url' },
    });
    team.hosting.faults.add({ on: 'reboot', kind: 'slow', delayMs: 150 });
    const by = rawUser(team, 'otto');
    const delivery = await by.command('reboot web-1');
    await Promise.all(Array.from({ length: 10 }, () => team.slack.redeliver(delivery)));
    await team.viewer.sees('rebooted web-1');
    expect(changesSeen(team)).toHaveLength(1);
    const refused = async () => (await by.audit()).filter(({ code }) => code === 'already_handled');
    await expect.poll(refused).toHaveLength(10);
  });

  it('pays once when the confirmation comes ten times', async () => {
    await using team = await startTeam();
    team.hosting.faults.add({ on: 'create', kind: 'slow', delayMs: 150 });
    await team.manager.types(orderOf('once'));
    await team.manager.presses('Create and pay');
    const delivery = team.slack.lastDelivery('view_submission create_review');
    const again = await Promise.all(Array.from({ length: 10 }, () => team.slack.redeliver(delivery)));
    expect(again.filter(({ status }) => status !== 200)).toEqual([]);
    await team.manager.sees('once is being created');
    expect(changesSeen(team)).toHaveLength(1);
    expect(team.hosting.charges(team.account)).toHaveLength(1);
  });
});

/** Signatures and their times are a matter of HTTP alone. */
const OVER_HTTP = { mode: 'http' } as const;

const posts = (team: Team) => team.slack.traffic().filter(({ what }) => what === 'response_url');

it('an answer to a command goes to its user alone when somebody sends the command again, or when it is older than Slack waits for', async ({
  expect,
}) => {
  await using team = await startTeam({ servers: 1, ...OVER_HTTP });
  const body = new URLSearchParams(team.slack.commandFields('vera', '#ops', 'list')).toString();
  const first = await team.slack.deliverAt(0, body);
  expect([first.status, first.response]).toEqual([200, expect.stringContaining('web-1')]);
  expect(posts(team)).toHaveLength(0);
  expect(await team.slack.redeliver(first)).toMatchObject({ status: 200, response: '' });
  await expect.poll(() => posts(team)).toHaveLength(1);
  const old = new URLSearchParams(team.slack.commandFields('vera', '#ops', 'list')).toString();
  expect(await team.slack.deliverAt(-60, old)).toMatchObject({ status: 200, response: '' });
  await expect.poll(() => posts(team)).toHaveLength(2);
});

describe.concurrent('a request that is delivered again with differences', () => {
  const refused = async (team: Team, by: 'otto' | 'mara') =>
    (await rawUser(team, by).audit()).filter(({ code }) => code === 'already_handled').length;

  it('is refused with 401 if its signature or its time is written otherwise', async () => {
    await using team = await startTeam({ servers: 1, ...OVER_HTTP });
    const fields = team.slack.commandFields('otto', '#ops', 'reboot web-1');
    const { headers, body } = await team.slack.deliverSigned({ fields });
    await team.viewer.sees('rebooted web-1');
    const signature = headers['x-slack-signature'] ?? '';
    const timestamp = headers['x-slack-request-timestamp'] ?? '';
    const guises = [
      { timestamp, signature: `${signature}=1` },
      { timestamp, signature: `${signature}=` },
      { timestamp: `0${timestamp}`, signature },
      { timestamp: `${timestamp}.0`, signature },
      { timestamp: `+${timestamp}`, signature },
    ];
    for (const guise of guises) expect((await team.slack.deliverRaw(body, guise)).status).toBe(401);
    expect(changesSeen(team)).toHaveLength(1);
  });

  it('is a replay if nothing differs, with or without an ID of Slack', async ({ expect }) => {
    await using team = await startTeam({ servers: 2, ...OVER_HTTP });
    for (const [place, hasId] of [true, false].entries()) {
      const command = team.slack.commandFields('otto', '#ops', `reboot web-${place + 1}`);
      const fields = hasId ? command : { ...command, trigger_id: '' };
      const first = await team.slack.deliverSigned({ fields });
      expect((await team.slack.redeliver(first)).status).toBe(200);
      await expect.poll(() => refused(team, 'otto')).toBe(place + 1);
    }
    expect(changesSeen(team)).toHaveLength(2);
  });

  it('is a replay when Slack signs it again: a command, a button, a form', async ({ expect }) => {
    await using team = await startTeam(OVER_HTTP);
    await doEverything(team);
    await team.operator.types('/vps show web-1');
    await team.operator.presses('Note…');
    await team.operator.fills({ Note: 'on call' });
    await team.operator.presses('Save');
    await team.operator.sees('Note saved');
    const changes = changesSeen(team).length;
    for (const [by, what, before] of [
      ['otto', 'command /vps reboot', 0],
      ['otto', 'block_actions stop', 2],
      // Nothing but its ID of Slack says that it is the same, unlike a confirmation.
      ['otto', 'view_submission note', 4],
      ['mara', 'view_submission delete', 0],
    ] as const) {
      const { body } = team.slack.lastDelivery(what);
      for (const seconds of [1, 2]) {
        expect((await team.slack.deliverAt(seconds, body)).status, what).toBe(200);
        await expect.poll(() => refused(team, by), { message: what }).toBe(before + seconds);
      }
    }
    expect(changesSeen(team)).toHaveLength(changes);
  });

  it('is not a replay if it has no ID of Slack and is signed at two different times', async ({ expect }) => {
    await using team = await startTeam({ servers: 1, ...OVER_HTTP });
    const fields = { ...team.slack.commandFields('otto', '#ops', 'stop web-1'), trigger_id: '' };
    const body = new URLSearchParams(fields).toString();
    await team.slack.deliverAt(0, body);
    await expect.poll(() => changesSeen(team).length).toBe(1);
    await team.slack.deliverAt(1, body);
    const outcomes = async () => (await rawUser(team, 'otto').audit()).map(({ outcome }) => outcome);
    await expect.poll(outcomes).toHaveLength(4);
    expect(await refused(team, 'otto')).toBe(0);
  });
});

describe.concurrent('a request that Slack did not sign', () => {
  it('is refused with 401 and has no effect', async () => {
    await using team = await startTeam({ servers: 1, ...OVER_HTTP });
    const { slack } = team;
    const fields = slack.commandFields('olga', '#ops', 'reboot web-1');
    const body = new URLSearchParams(fields).toString();
    const event = JSON.stringify({ type: 'event_callback', event: { type: 'app_uninstalled' } });
    const now = Math.floor(Date.now() / 1000);
    const at = (seconds: number | string) => ({
      timestamp: String(seconds),
      signature: slack.sign(body, seconds),
    });
    const good = at(now);
    const attempts = [
      slack.deliverForged({ fields }),
      slack.deliverForged({ payload: { type: 'block_actions' } }),
      slack.deliverRaw(body, {}),
      slack.deliverRaw(body, { signature: good.signature }),
      slack.deliverRaw(body, { ...good, signature: 'v0=' }),
      slack.deliverRaw(body, { ...good, signature: good.signature.toUpperCase() }),
      slack.deliverRaw(body, { ...good, signature: `${good.signature}, ${good.signature}` }),
      slack.deliverRaw(body, { ...good, signature: good.signature.replace('v0=', 'v1=') }),
      slack.deliverRaw(`${body}&text=delete`, good),
      slack.deliverRaw(`ssl_check=1&${body}`, {}),
      slack.deliverRaw(body, at(now - 301)),
      slack.deliverRaw(body, at(0)),
      slack.deliverRaw(body, at(now + 310)),
      slack.deliverRaw(event, { contentType: 'application/json', timestamp: '1', signature: 'v0=0' }),
    ];
    const answers = await Promise.all(attempts);
    const statuses = answers.map(({ status }) => status);
    // `ssl_check` is Slack's own unsigned test of the address: answered, and nothing more is done with it.
    expect(statuses).toEqual(attempts.map((_, place) => (place === 9 ? 200 : 401)));
    expect(team.hosting.requests()).toEqual([]);
    expect(await rawUser(team, 'olga').audit()).toEqual([]);
    expect(slack.traffic().filter(({ from, what }) => from === 'app' && what !== 'auth.test')).toEqual([]);
  });

  it('tolerates a clock that is slightly wrong', async () => {
    await using team = await startTeam(OVER_HTTP);
    const { slack } = team;
    for (const off of [-280, 280]) {
      const body = new URLSearchParams(slack.commandFields('olga', '#ops', 'help')).toString();
      expect((await slack.deliverAt(off, body)).status).toBe(200);
    }
  });

  it('is refused if its time is not a number, signed or not', async () => {
    await using team = await startTeam(OVER_HTTP);
    const { slack } = team;
    const body = new URLSearchParams(slack.commandFields('olga', '#ops', 'help')).toString();
    // What is signed is `v0:<time>:<body>`: a beginning of the body may not be passed off as the end of the time.
    const old = `${Math.floor(Date.now() / 1000) - 3600}`;
    const at = body.indexOf('&') + 1;
    const split = { timestamp: `${old}:${body.slice(0, at)}`, signature: slack.sign(body, old) };
    expect((await slack.deliverRaw(body.slice(at), split)).status).toBe(401);
    for (const timestamp of ['soon', 'Infinity', '0x7fffffff', ' ']) {
      const { status } = await slack.deliverRaw(body, { timestamp, signature: slack.sign(body, timestamp) });
      expect([timestamp, status]).toEqual([timestamp, 401]);
    }
  });
});
