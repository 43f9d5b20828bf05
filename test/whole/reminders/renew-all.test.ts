import { describe, expect, test } from 'vitest';
import { money } from '../../../src/core/money.ts';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import type { Job } from '../../../src/db/jobs.ts';
import { SEND_WITHIN_MS } from '../../../src/purchases/operation.ts';
import { BATCH, type RenewalBatch } from '../../../src/reminders/batch.ts';
import { USERS } from '../../../src/sandbox/slack/workspace.ts';
import { createServer } from '../../support/acts.ts';
import { envelope, rawUser } from '../../support/raw-user.ts';
import { type DigestTeam, startDigestTeam, TWO_PERSONS } from '../../support/ruled-team.ts';

/** A digest with so many servers, and the manager's review of all of them. */
async function openReview(team: DigestTeam, count: number): Promise<void> {
  team.hosting.seedServers(team.account, count, 'web');
  team.untilDigest(25);
  await team.manager.sees('Daily digest');
  await team.manager.presses('Renew all…');
  await team.manager.sees('to the account balance');
}

describe.concurrent('Renew all', () => {
  test('shows every server and one total, and renews each once, one after the other', async ({ expect }) => {
    await using team = await startDigestTeam();
    await createServer(team.manager, 'api-1');
    await openReview(team, 2);
    await team.manager.sees('One more month for 3 servers is charged');
    await team.manager.sees('Total: 5.90, and the unknown price of 2 servers');
    await team.manager.sees('api-1 · paid until');
    await team.manager.presses('Renew and pay');
    await team.manager.sees('3 servers were renewed.');
    for (const label of ['api-1', 'web-1', 'web-2'])
      await team.manager.sees(`✅ ${label} was renewed, paid until`);
    expect([team.charges(), team.renewals()]).toEqual([4, 3]);
    await expect.poll(() => team.digests()[0]).toContain('Everything is renewed.');
    expect(team.digests()[0]?.match(/renewed by @mara/g)).toHaveLength(3);
    await team.viewer.sees('@mara renewed 3 servers: api-1, web-1, web-2');
    const times = team.hosting.requests({ operation: 'renew' }).map(({ atMs }) => atMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(new Set((await team.listAudit()).filter((line) => line.includes(' renew ')))).toEqual(
      new Set(['mara renew done']),
    );
  });

  test('pays once for each server, however often and by however many users it is confirmed', async ({
    expect,
  }) => {
    await using team = await startDigestTeam();
    await openReview(team, 3);
    await team.owner.presses('Renew all…');
    await team.owner.sees('One more month for 3 servers');
    await Promise.all([team.manager.presses('Renew and pay'), team.owner.presses('Renew and pay')]);
    await team.manager.sees(/\d of 3 servers (was|were) renewed/);
    await expect.poll(() => team.charges()).toBe(3);
    const jobs = () => team.app.ports.jobStore.list(BATCH, 'T0SANDBOX');
    const isTold = ({ payload }: Job) => (payload as RenewalBatch).state === 'done';
    await expect.poll(async () => (await jobs()).every(isTold)).toBe(true);
    expect([team.charges(), team.renewals()]).toEqual([3, 3]);
  });

  test('counts a form that is submitted twice as one confirmation, and refuses another user’s form', async ({
    expect,
  }) => {
    await using team = await startDigestTeam(
      {},
      { exempt: { chargedOnce: 'the form is stored and sent by hand' } },
    );
    const formId = '01JZZZZZZZZZZZZZZZZZZZZZZZ';
    team.hosting.seedServers(team.account, 2, 'web');
    const reviewed = team.hosting.listServers(team.account).map(({ id, label, paid_until }, at) => ({
      id: `${formId.slice(0, -1)}${at}`,
      serverId: id,
      label,
      paidUntil: Date.parse(paid_until),
    }));
    const by = { workspaceId: 'T0SANDBOX', actorId: USERS.mara.id, at: team.system.now() };
    await team.app.ports.renewalBatches.put({ id: formId, ...by, renewals: reviewed });
    const mine = rawUser(team, 'mara');
    const stranger = await rawUser(team, 'olga').submits('renew_all', envelope({}, formId));
    expect(stranger.response).toContain('This confirmation has expired');
    const twice = await Promise.all([1, 2, 3].map(() => mine.submits('renew_all', envelope({}, formId))));
    expect(twice.filter(({ response }) => response.includes('Renewing 2 servers'))).toHaveLength(1);
    expect(twice.filter(({ response }) => response.includes('Already confirmed'))).toHaveLength(2);
    await expect.poll(() => team.charges()).toBe(2);
    expect(team.renewals()).toBe(2);
  });

  test('says how many servers were renewed, and why the others failed', async ({ expect }) => {
    await using team = await startDigestTeam({}, { balanceMinor: 700 });
    await openReview(team, 3);
    await team.manager.presses('Renew and pay');
    await team.manager.sees('2 of 3 servers were renewed.');
    await team.manager.sees('balance is too low');
    expect(team.charges()).toBe(2);
    await expect.poll(() => team.digests()[0]).toMatch(/1 server to renew soon/);
  });

  test('keeps looking for an unconfirmed renewal, and continues with the other servers', async ({
    expect,
  }) => {
    await using team = await startDigestTeam();
    team.hosting.faults.add({ on: 'renew', kind: 'lost_after' });
    await openReview(team, 2);
    await team.manager.presses('Renew and pay');
    // On a slow machine, the app finds the lost renewal before it has sent the other one.
    await team.manager.sees(/1 of 2 servers was renewed; 1 isn’t confirmed yet\.|2 servers were renewed\./);
    await team.manager.sees('We’re not sure yet whether web-1 was renewed');
    team.system.move(3000);
    await expect.poll(() => team.digests()[0]).toContain('Everything is renewed.');
    expect([team.charges(), team.renewals()]).toEqual([2, 2]);
  });

  test('says how many renewals aren’t confirmed yet, and doesn’t call those finished', async ({ expect }) => {
    await using team = await startDigestTeam();
    team.hosting.faults.add({ on: 'renew', kind: 'lost_before', times: 2 });
    await openReview(team, 2);
    await team.manager.presses('Renew and pay');
    await team.manager.sees('0 of 2 servers were renewed; 2 aren’t confirmed yet.');
    await expect.poll(() => team.manager.modal()?.shown).toContain('Renewals sent');
    await expect
      .poll(() => team.digests()[0])
      .toContain('Nothing to renew right now. 2 renewals aren’t confirmed yet.');
    const edits = team.slack.traffic().filter(({ what }) => what === 'chat.update');
    const text = new URLSearchParams(String(edits.at(-1)?.request)).get('text');
    expect(text).toMatch(/^Daily digest for .*: 2 renewals aren’t confirmed yet$/);
  });

  test('checks the budget, the freeze and the user’s role for each server when it is sent', async () => {
    await using team = await startDigestTeam({ budget: { workspace: money(0) } });
    await openReview(team, 2);
    await team.manager.sees('This exceeds this month’s budget and will be refused');
    await team.manager.presses('Renew and pay');
    await team.manager.sees('0 of 2 servers were renewed.');
    await team.manager.sees('exceeds the workspace’s monthly budget');
    await team.manager.closes();
    const settings = (await team.app.ports.workspaces.find('T0SANDBOX'))?.settings ?? DEFAULT_SETTINGS;
    await team.setSettings({ ...settings, budget: {} });
    await team.manager.presses('Renew all…');
    await team.manager.sees('One more month for 2 servers');
    await team.setSettings({ ...settings, budget: {}, freeze: { by: USERS.olga.id, since: 0 } });
    await team.manager.presses('Renew and pay');
    await team.manager.sees('Purchases are frozen');
    await team.setSettings({ ...settings, budget: {} });
    await team.manager.closes();
    await team.manager.presses('Renew all…');
    await team.manager.sees('One more month for 2 servers');
    await team.approver.types(`/vps access revoke <@${USERS.mara.id}>`);
    await team.approver.sees('role was revoked');
    await team.manager.presses('Renew and pay');
    await team.manager.sees('You need the manager role');
    expect(team.charges()).toBe(0);
  });

  test('requests approval for each server where the two-person rule is on', async ({ expect }) => {
    await using team = await startDigestTeam({ approval: TWO_PERSONS.approval });
    await openReview(team, 2);
    await team.manager.presses('Request approval');
    await team.manager.sees('web-2 is waiting for another manager’s approval');
    expect(team.charges()).toBe(0);
    await team.approver.sees('wants to renew web-1');
    await team.approver.presses('Approve');
    await expect.poll(() => team.charges()).toBe(1);
    await team.approver.presses('Approve');
    await expect.poll(() => team.charges()).toBe(2);
  });

  test('reviews at most 25 servers, names those that weren’t renewed in time or charged, and offers one button to renew just those', async ({
    expect,
  }) => {
    await using team = await startDigestTeam();
    team.hosting.faults.add({ on: 'renew', kind: 'slow', delayMs: 500 });
    await openReview(team, 27);
    expect(team.digests()[0]).toContain('27 servers to renew soon');
    await team.manager.sees('One more month for 25 servers');
    await team.manager.sees('2 more servers can be renewed afterwards');
    await team.manager.presses('Renew and pay');
    await expect.poll(() => team.renewals()).toBe(1);
    team.system.move(SEND_WITHIN_MS + 1000);
    await team.manager.sees('1 of 25 servers was renewed.');
    for (const at of [2, 25])
      await team.manager.sees(
        `❌ web-${at} wasn’t renewed: the order wasn’t sent in time, so nothing was charged.`,
      );
    expect([team.renewals(), team.charges()]).toEqual([1, 1]);
    await team.manager.closes();
    await team.manager.presses('Renew the rest…');
    await team.manager.sees('One more month for 24 servers is charged');
    await team.manager.presses('Renew and pay');
    await team.manager.sees('24 servers were renewed.');
    expect([team.renewals(), team.charges()]).toEqual([25, 25]);
  });
});
