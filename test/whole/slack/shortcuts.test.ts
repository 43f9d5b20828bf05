import { describe, expect, it } from 'vitest';
import { changesSeen, rawUser } from '../../support/raw-user.ts';
import { SCOPES, startTeam, type TeamOptions } from '../../support/team.ts';

const startWithServers = (more: TeamOptions = {}) =>
  startTeam({ servers: 12, hasRateLimits: false, ...more });

const alertOf = (label: string) => ({
  attachments: [{ title: `[FIRING:1] DiskFull (${label}:9100)`, text: '', fallback: 'DiskFull' }],
});

describe.concurrent('Manage server… on a message', () => {
  it('opens the card of the server that an alert mentions, and posts the outcome in the thread', async () => {
    await using team = await startWithServers();
    const ts = await team.slack.posts('#ops', alertOf('web-1'));
    const { operator } = team;
    await operator.usesMessageShortcut('manage_server', 'DiskFull');
    await operator.sees('Manage server web-1');
    await operator.sees('The message is less than a minute old');
    expect(changesSeen(team)).toEqual([]);
    // The card is the question: of what can be undone, nothing asks once more.
    expect([operator.confirmationOf('Reboot'), operator.confirmationOf('Stop')]).toEqual([
      undefined,
      expect.stringContaining('Stop web-1?'),
    ]);
    await operator.presses('Reboot');
    await operator.thread(ts).sees('@otto rebooted web-1: 🟢 running');
    await operator.closes();
    operator.in('#ops').doesNotSee('rebooted web-1');
    const audit = await rawUser(team, 'otto').audit();
    expect(audit.map(({ action, surface }) => [action, surface])).toContainEqual(['reboot', 'button']);
  });

  it('marks the message with ✅ once the server is as it should be, and with ⚠️ if it won’t be', async ({
    expect,
  }) => {
    await using team = await startWithServers({ hosting: { rebootDelayMs: 1500 } });
    for (const server of ['web-1', 'web-2', 'web-3'])
      await team.slack.posts('#ops', { text: `${server} is down` });
    const { operator } = team;
    const presses = async (button: string, server: string) => {
      await operator.usesMessageShortcut('manage_server', `${server} is down`);
      await operator.sees(`Manage server ${server}`);
      await operator.presses(button);
    };
    await presses('Reboot', 'web-1');
    await expect.poll(() => operator.reactionsTo('web-1 is down')).toEqual(['white_check_mark']);
    await operator.closes();
    await presses('Stop', 'web-2');
    await expect.poll(() => operator.reactionsTo('web-2 is down')).toEqual(['white_check_mark']);
    await operator.closes();
    await presses('Reboot', 'web-3');
    await operator.inThreadOf('web-3 is down').sees('is rebooting web-3');
    const web3 = team.hosting.listServers(team.account).find(({ label }) => label === 'web-3');
    const headers = { authorization: `Bearer ${team.apiKey}` };
    await fetch(`${team.environment.HOSTING_BASE_URL}/servers/${web3?.id}`, { method: 'DELETE', headers });
    await operator.inThreadOf('web-3 is down').sees('no longer');
    await expect.poll(() => operator.reactionsTo('web-3 is down')).toEqual(['warning']);
  });

  it.each([
    ['without the scope', SCOPES.filter((scope) => scope !== 'reactions:write'), '#ops'],
    ['in a channel that the app isn’t in', SCOPES, '#random'],
  ])('works the same %s, but without a reaction', async (_where, scopes, channel) => {
    await using team = await startWithServers({ scopes });
    await team.slack.posts(channel, { text: 'web-1 is down' });
    const operator = team.slack.as('otto').in(channel);
    await operator.usesMessageShortcut('manage_server', 'web-1 is down');
    await operator.presses('Stop');
    await operator.sees('⚪ stopped');
    await operator.closes();
    expect(operator.reactionsTo('web-1 is down')).toEqual([]);
  });

  it('in a thread posts the outcome in that thread', async () => {
    await using team = await startWithServers();
    const ts = await team.slack.posts('#ops', { text: 'something is wrong' });
    const operator = team.slack.as('otto').thread(ts);
    await operator.types('I think it is web-2');
    await operator.usesMessageShortcut('manage_server', 'I think');
    await operator.sees('Manage server web-2');
    await operator.presses('Stop');
    await operator.sees('@otto stopped web-2');
    await operator.closes();
    operator.in('#ops').doesNotSee('stopped web-2');
  });

  it('asks which server is meant if the message mentions several, with servers from links last', async () => {
    await using team = await startWithServers();
    await team.slack.posts('#ops', { text: 'see <http://web-3/graph|the graph>: web-1 and web-2 are down' });
    await team.viewer.usesMessageShortcut('manage_server', 'are down');
    await team.viewer.sees(/mentions 3 servers[\s\S]*web-1[\s\S]*web-2[\s\S]*web-3/);
    await team.viewer.presses('Manage');
    await team.viewer.sees('ID');
    expect(team.viewer.modal()?.shown).toMatch(/Manage server\s+web-3/);
  });

  it('shows only servers that the user’s role covers', async () => {
    await using team = await startWithServers();
    await team.owner.types('/vps access grant @nora viewer on web-2');
    await team.owner.sees('is now a viewer');
    await team.slack.posts('#ops', { text: 'web-1 and web-2 are down' });
    const user = team.slack.as('nora');
    await user.usesMessageShortcut('manage_server', 'are down');
    await user.sees(/Manage server\s+web-2/);
    expect(user.modal()?.shown).not.toContain('web-1');
    expect(user.modal()?.shown).not.toContain('Reboot');
  });

  it('says which role is needed, with a way to ask for it', async () => {
    await using team = await startWithServers();
    await team.slack.posts('#ops', alertOf('web-1'));
    const user = team.slack.as('nora');
    await user.usesMessageShortcut('manage_server', 'DiskFull');
    await user.sees('You need the viewer role');
    await user.presses('Ask for access');
    await user.sees('Why do you need it?');
  });

  it('renews, and deletes after the label was typed, in the same modal, and posts the outcomes in the thread', async () => {
    await using team = await startWithServers();
    const ts = await team.slack.posts('#ops', alertOf('web-1'));
    await team.manager.usesMessageShortcut('manage_server', 'DiskFull');
    await team.manager.presses('Renew…');
    await team.manager.presses('Renew and pay');
    await team.manager.thread(ts).sees('@mara renewed web-1');
    await team.manager.closes();
    team.manager.in('#ops').doesNotSee('renewed web-1');
    expect(team.hosting.charges(team.account)).toHaveLength(1);
    await team.manager.usesMessageShortcut('manage_server', 'DiskFull');
    await team.manager.presses('Delete…');
    await team.manager.fills({ 'To confirm, type web-1': 'web-1' });
    await team.manager.presses('Delete');
    await team.manager.thread(ts).sees('@mara deleted web-1');
  });

  it('posts the outcome in the thread by response_url where the app is not a member of the channel', async () => {
    await using team = await startWithServers();
    const owner = team.slack.as('olga').in('#random');
    await owner.types('web-1 is slow');
    const ts = owner.messages().at(-1)?.ts ?? '';
    await owner.usesMessageShortcut('manage_server', 'is slow');
    await owner.presses('Reboot');
    await owner.thread(ts).sees('@olga');
    await owner.sees('/invite @vps');
  });

  it('announces nothing in a channel that is shared with another organization', async ({ expect }) => {
    await using team = await startWithServers();
    const operator = team.slack.as('otto').in('#acme-shared');
    await operator.types('it is slow: web-1');
    await operator.usesMessageShortcut('manage_server', 'it is slow');
    await operator.presses('Reboot');
    await expect.poll(() => changesSeen(team).length).toBe(1);
    await operator.sees('Last action: @otto rebooted it');
    team.slack.as('sam').in('#acme-shared').doesNotSee('rebooted');
  });

  it('asks the user to use the shortcut again if its modal can’t open in time', async () => {
    await using team = await startWithServers();
    await team.slack.posts('#ops', alertOf('web-1'));
    team.slack.faults.failMethod('views.open', 'expired_trigger_id', 1);
    await team.operator.usesMessageShortcut('manage_server', 'DiskFull');
    await team.operator.sees('use the shortcut again');
  });
});

it.concurrent('the global shortcut Servers offers recently used servers first, and finds any other', async ({
  expect,
}) => {
  await using team = await startWithServers();
  const { operator } = team;
  await operator.types('/vps reboot web-7');
  await operator.sees('rebooted web-7');
  await operator.usesGlobalShortcut('servers');
  await operator.sees('Which server?');
  expect(operator.modal()?.shown).toMatch(/Which server\?\s+🟢 \*web-7\*/);
  await operator.chooses('Find another server', 'web-9');
  await operator.sees(/Servers\s+web-9/);
  await operator.presses('Stop');
  await expect.poll(() => operator.modal()?.shown).toContain('stopped');
});
