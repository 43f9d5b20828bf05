import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { connectByForm, orderServer, reviewOrder, startWithPanel } from '../panel/support.ts';

const connected = { isConnected: true };

it('the tour has its key connected once the app has one that works, says so at once, and keeps it done', async () => {
  await using panel = await startWithPanel();
  const states = panel.listen();
  await panel.perform({ do: 'create_key' });
  expect(await connectByForm(panel, 'hk_wrong')).toBe(422);
  expect(await panel.step('connect')).toBe(false);
  expect(await connectByForm(panel, panel.team.apiKey)).toBe(200);
  await eventually(() => expect(states.at(-1)?.tour[0]).toMatchObject({ id: 'connect', isDone: true }));
  await panel.perform({ do: 'revoke_key', key: 1 });
  expect(await panel.step('connect')).toBe(true);
});

it('the tour has a server created once it was paid for in Slack and its root password has come', async () => {
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
  expect(await panel.step('create')).toBe(false);
  await manager.closes({ all: true });
  await orderServer(panel, 'web-1');
  await manager.sees('Root password');
  expect(await panel.step('create')).toBe(true);
});

it('the tour has a server rebooted when a user with the role does it in Slack, and not otherwise', async () => {
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

it('the tour has a response lost once the outcome of its order was found, charged once, and no server created by it', async () => {
  await using panel = await startWithPanel(connected);
  const manager = panel.team.slack.as('mara').in('#ops');
  await panel.perform({ do: 'add_fault', preset: 'lose_answer' });
  await orderServer(panel, 'web-1');
  await manager.sees('not sure yet');
  expect(await panel.step('lose')).toBe(false);
  await manager.sees('didn’t reach us');
  expect([await panel.step('lose'), await panel.step('create')]).toEqual([true, false]);
  expect(panel.team.hosting.charges(panel.team.account)).toHaveLength(1);
});

it('the tour has no response lost if none was, or only one to an order that was not carried out', async () => {
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

it('the tour has a server deleted when its label was typed in Slack, and not by the dialog or past the app', async () => {
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
