import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { connectByForm, orderServer, reviewOrder, startWithPanel } from '../panel/support.ts';

const connected = { isConnected: true };

describe('the tour', () => {
  it('reports a completed step immediately, with its time, and never reopens it', async () => {
    await using panel = await startWithPanel();
    const states = panel.listen();
    const before = Date.now();
    await connectByForm(panel, panel.team.apiKey);
    await eventually(() => expect(states.at(-1)?.tour[0]?.isDone).toBe(true));
    const [step] = (await panel.state()).tour;
    expect(step).toMatchObject({ id: 'connect', isDone: true });
    expect(step?.doneAt).toBeGreaterThanOrEqual(before);
    await panel.perform({ do: 'revoke_key', key: 1 });
    expect(await panel.step('connect')).toBe(true);
  });
});

describe('the key is connected', () => {
  it('when the app has a key that works, not a wrong or an unused one', async () => {
    await using panel = await startWithPanel();
    await panel.perform({ do: 'create_key' });
    expect(await connectByForm(panel, 'hk_wrong')).toBe(422);
    expect(await panel.step('connect')).toBe(false);
    expect(await connectByForm(panel, panel.team.apiKey)).toBe(200);
    expect(await panel.step('connect')).toBe(true);
  });
});

describe('a server is created', () => {
  it('when it was paid for and its root password has come', async () => {
    await using panel = await startWithPanel(connected);
    await orderServer(panel, 'web-1');
    await panel.team.slack.as('mara').sees('Root password');
    expect(await panel.step('create')).toBe(true);
  });

  it('and not by looking, by a refusal, or past Slack', async () => {
    const passwordsWithCreators = 'a server is ordered past the app';
    const exempt = { chargedOnce: passwordsWithCreators, passwordsWithCreators };
    await using panel = await startWithPanel({ ...connected, exempt });
    const { hosting, apiKey } = panel.team;
    const manager = await reviewOrder(panel, 'web-1');
    await manager.closes({ all: true });
    await panel.perform({ do: 'add_fault', preset: 'no_balance' });
    await orderServer(panel, 'web-1');
    await manager.sees('wasn’t created');
    await fetch(`${hosting.baseUrl}/servers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ plan: 'small', location: 'ams', image: 'debian-13', label: 'by-hand' }),
    });
    await panel.perform({ do: 'seed_servers' });
    expect(hosting.charges(panel.team.account)).toHaveLength(1);
    expect(await panel.step('create')).toBe(false);
  });

  it('and not while its root password is in an answer that was lost', async () => {
    await using panel = await startWithPanel(connected);
    await panel.perform({ do: 'add_fault', preset: 'lose_answer' });
    await orderServer(panel, 'web-1');
    await panel.team.slack.as('mara').sees('didn’t reach us');
    expect(await panel.step('create')).toBe(false);
  });
});

describe('a server is rebooted', () => {
  it('when a user with the role does it in Slack, and not otherwise', async () => {
    await using panel = await startWithPanel(connected);
    const { slack, hosting, account, apiKey } = panel.team;
    const [id] = hosting.seedServers(account, 1, 'web');
    const viewer = slack.as('vera').in('#ops');
    await viewer.types('/vps reboot web-1');
    await viewer.sees(/operator/);
    const headers = { authorization: `Bearer ${apiKey}` };
    await fetch(`${hosting.baseUrl}/servers/${id}/reboot`, { method: 'POST', headers });
    expect(await panel.step('reboot')).toBe(false);
    await slack.as('otto').types('/vps reboot web-1');
    await viewer.sees('rebooted');
    expect(await panel.step('reboot')).toBe(true);
  });
});

describe('an answer is lost', () => {
  it('when an order was carried out, its response lost, its outcome found, and it was charged once', async () => {
    await using panel = await startWithPanel(connected);
    const manager = panel.team.slack.as('mara').in('#ops');
    await panel.perform({ do: 'add_fault', preset: 'lose_answer' });
    await orderServer(panel, 'web-1');
    await manager.sees('not sure yet');
    expect(await panel.step('lose')).toBe(false);
    await manager.sees('didn’t reach us');
    expect(await panel.step('lose')).toBe(true);
    expect(panel.team.hosting.charges(panel.team.account)).toHaveLength(1);
  });

  it('with a renewal as well', async () => {
    await using panel = await startWithPanel(connected);
    const { slack, hosting, account } = panel.team;
    hosting.seedServers(account, 1, 'web');
    const manager = slack.as('mara').in('#ops');
    await panel.perform({ do: 'add_fault', preset: 'lose_answer' });
    await manager.types('/vps renew web-1');
    await manager.presses('Renew and pay');
    await manager.sees('is now paid until');
    expect(await panel.step('lose')).toBe(true);
    expect(hosting.charges(account)).toHaveLength(1);
  });

  it('and not when it was charged twice', async () => {
    await using panel = await startWithPanel({
      ...connected,
      exempt: { chargedOnce: 'the test charges twice' },
    });
    const { slack, hosting, account } = panel.team;
    await panel.perform({ do: 'add_fault', preset: 'lose_answer' });
    await orderServer(panel, 'web-1');
    await slack.as('mara').sees('not sure yet');
    hosting.accounts.charge(account, 590, 'create web-1 (small)');
    await slack.as('mara').sees('didn’t reach us');
    expect(await panel.step('lose')).toBe(false);
  });

  it('and not when nothing was lost, or lost before it was done', async () => {
    await using panel = await startWithPanel({ ...connected, config: { DOUBT_MINUTES: 0 } });
    const manager = panel.team.slack.as('mara').in('#ops');
    await orderServer(panel, 'web-1');
    await manager.sees(/(was|is being) created \(/);
    await manager.closes({ all: true });
    await panel.perform({ do: 'add_fault', preset: 'lose_order' });
    await orderServer(panel, 'web-2');
    await manager.sees('hasn’t appeared in the hosting account');
    expect(await panel.step('lose')).toBe(false);
  });
});

describe('a server is deleted', () => {
  it('when its label was typed in Slack, and not by the dialog or past the app', async () => {
    await using panel = await startWithPanel(connected);
    const { slack, hosting, account } = panel.team;
    const [first] = hosting.seedServers(account, 2, 'web');
    await panel.perform({ do: 'delete_server', server: first ?? 0 });
    const manager = slack.as('mara').in('#ops');
    await manager.types('/vps delete web-2');
    await manager.sees('no refund');
    expect(await panel.step('delete')).toBe(false);
    await manager.fills({ 'To confirm, type web-2': 'web-2' });
    await manager.presses('Delete');
    await manager.sees('was deleted');
    expect(await panel.step('delete')).toBe(true);
  });
});
