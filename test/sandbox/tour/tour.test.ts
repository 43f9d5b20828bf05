import { describe, expect, it, vi } from 'vitest';
import { openPanel } from '../../../src/sandbox/panel/open-panel.ts';
import { connectByForm, orderServer, startBeside } from '../panel/support.ts';

const connected = { isConnected: true };

describe('the tour', () => {
  it('begins with nothing done, and says what to do', async () => {
    await using beside = await startBeside();
    const { tour } = await beside.state();
    expect(tour.map(({ isDone }) => isDone)).toEqual([false, false, false, false, false]);
    for (const { title, words, doneAt } of tour)
      expect([title, words, doneAt]).toEqual([expect.any(String), expect.stringMatching(/\.$/), null]);
  });

  it('tells at once when a step is done, with its time, and never takes it back', async () => {
    await using beside = await startBeside();
    const live = await beside.listen();
    const before = Date.now();
    await connectByForm(beside, beside.team.apiKey);
    await vi.waitFor(() => expect(live.events.some(({ type }) => type === 'tour')).toBe(true));
    const [step] = (await beside.state()).tour;
    expect(step).toMatchObject({ id: 'connect', isDone: true });
    expect(step?.doneAt).toBeGreaterThanOrEqual(before);
    await beside.perform({ do: 'revoke_key', key: 1 });
    expect(await beside.step('connect')).toBe(true);
  });
});

describe('the key is connected', () => {
  it('when the app keeps one that works, and not by a wrong one or by making one', async () => {
    await using beside = await startBeside();
    await beside.perform({ do: 'create_key' });
    expect(await connectByForm(beside, 'hk_wrong')).toBe(422);
    expect(await beside.step('connect')).toBe(false);
    expect(await connectByForm(beside, beside.team.apiKey)).toBe(200);
    expect(await beside.step('connect')).toBe(true);
  });
});

describe('a server is created', () => {
  it('when it was paid for and its root password was shown to its creator', async () => {
    await using beside = await startBeside(connected);
    await orderServer(beside, 'web-1');
    await beside.team.slack.as('manager').sees('Root password');
    expect(await beside.step('create')).toBe(true);
  });

  it('or saved by them, for a tour that began only after it was shown', async () => {
    await using beside = await startBeside(connected);
    const { slack, hosting, account, app } = beside.team;
    const manager = slack.as('manager').in('#ops');
    await orderServer(beside, 'web-1');
    await manager.sees('Root password');
    const later = await openPanel({ hosting, account, slack, store: app.ports });
    const isCreated = async () => {
      await later.look();
      return later.tour.steps().find(({ id }) => id === 'create')?.isDone;
    };
    expect(await isCreated()).toBe(false);
    await manager.closes({ all: true });
    await manager.presses('I saved it');
    await vi.waitFor(async () => expect(await isCreated()).toBe(true));
    await later.close();
  });

  it('and not by looking, by a refusal, or past Slack', async () => {
    await using beside = await startBeside(connected);
    const { slack, hosting, apiKey } = beside.team;
    const manager = slack.as('manager').in('#ops');
    await manager.types('/vps create');
    await manager.fills({ Plan: 'small', Location: 'ams', Image: 'debian-13', Label: 'web-1' });
    await manager.presses('Review');
    await manager.sees('5.90');
    await manager.closes({ all: true });
    await beside.perform({ do: 'add_fault', preset: 'no_balance' });
    await orderServer(beside, 'web-1');
    await manager.sees('was not created');
    await fetch(`${hosting.baseUrl}/servers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ plan: 'small', location: 'ams', image: 'debian-13', label: 'by-hand' }),
    });
    await beside.perform({ do: 'seed_servers' });
    expect(hosting.charges(beside.team.account)).toHaveLength(1);
    expect(await beside.step('create')).toBe(false);
  });

  it('and not while its root password is in an answer that was lost', async () => {
    await using beside = await startBeside(connected);
    await beside.perform({ do: 'add_fault', preset: 'lose_answer' });
    await orderServer(beside, 'web-1');
    await beside.team.slack.as('manager').sees('never reached us');
    expect(await beside.step('create')).toBe(false);
  });
});

describe('a server is rebooted', () => {
  it('when somebody may and does it in Slack, and not otherwise', async () => {
    await using beside = await startBeside(connected);
    const { slack, hosting, account, apiKey } = beside.team;
    const [id] = hosting.seedServers(account, 1, 'web');
    const viewer = slack.as('viewer').in('#ops');
    await viewer.types('/vps reboot web-1');
    await viewer.sees(/operator/);
    const headers = { authorization: `Bearer ${apiKey}` };
    await fetch(`${hosting.baseUrl}/servers/${id}/reboot`, { method: 'POST', headers });
    expect(await beside.step('reboot')).toBe(false);
    await slack.as('operator').types('/vps reboot web-1');
    await viewer.sees('rebooted');
    expect(await beside.step('reboot')).toBe(true);
  });
});

describe('an answer is lost', () => {
  it('when an order was done, its answer lost, its end told, and it was charged once', async () => {
    await using beside = await startBeside(connected);
    const manager = beside.team.slack.as('manager').in('#ops');
    await beside.perform({ do: 'add_fault', preset: 'lose_answer' });
    await orderServer(beside, 'web-1');
    await manager.sees('know yet');
    expect(await beside.step('lose')).toBe(false);
    await manager.sees('never reached us');
    expect(await beside.step('lose')).toBe(true);
    expect(beside.team.hosting.charges(beside.team.account)).toHaveLength(1);
  });

  it('with a renewal as well', async () => {
    await using beside = await startBeside(connected);
    const { slack, hosting, account } = beside.team;
    hosting.seedServers(account, 1, 'web');
    const manager = slack.as('manager').in('#ops');
    await beside.perform({ do: 'add_fault', preset: 'lose_answer' });
    await manager.types('/vps renew web-1');
    await manager.presses('Renew and pay');
    await manager.sees('It is paid until');
    expect(await beside.step('lose')).toBe(true);
    expect(hosting.charges(account)).toHaveLength(1);
  });

  it('and not when it was charged twice', async () => {
    await using beside = await startBeside(connected);
    const { slack, hosting, account } = beside.team;
    await beside.perform({ do: 'add_fault', preset: 'lose_answer' });
    await orderServer(beside, 'web-1');
    await slack.as('manager').sees('know yet');
    hosting.accounts.charge(account, 590, 'create web-1 (small)');
    await slack.as('manager').sees('never reached us');
    expect(await beside.step('lose')).toBe(false);
  });

  it('and not when nothing was lost, or lost before it was done', async () => {
    await using beside = await startBeside({ ...connected, settings: { DOUBT_MINUTES: '0' } });
    const manager = beside.team.slack.as('manager').in('#ops');
    await orderServer(beside, 'web-1');
    await manager.sees('was created');
    await manager.closes({ all: true });
    await beside.perform({ do: 'add_fault', preset: 'lose_order' });
    await orderServer(beside, 'web-2');
    await manager.sees('was not created');
    expect(await beside.step('lose')).toBe(false);
  });
});

describe('a server is deleted', () => {
  it('when its label was typed in Slack, and not by the dialog or on the account page', async () => {
    await using beside = await startBeside(connected);
    const { slack, hosting, account } = beside.team;
    const [first] = hosting.seedServers(account, 2, 'web');
    await beside.perform({ do: 'delete_server', server: first ?? 0 });
    const manager = slack.as('manager').in('#ops');
    await manager.types('/vps delete web-2');
    await manager.sees('not refunded');
    expect(await beside.step('delete')).toBe(false);
    await manager.fills({ 'Type the label to delete it': 'web-2' });
    await manager.presses('Delete');
    await manager.sees('was deleted');
    expect(await beside.step('delete')).toBe(true);
  });
});
