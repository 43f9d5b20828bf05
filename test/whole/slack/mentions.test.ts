import { describe, expect, it, vi } from 'vitest';
import { commands } from '../../../src/commands.ts';
import { APP, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { createServer } from '../../support/acts.ts';
import { changesSeen, rawUser } from '../../support/raw-user.ts';
import { startTeam, type Team } from '../../support/team.ts';

const startWithServers = () => startTeam({ servers: 3, hasRateLimits: false });

/** Waits until something that was sent after everything else has been answered. */
async function answeredAll(team: Team): Promise<void> {
  const viewer = team.slack.as('vera').in('#general').overlooksOldMessages();
  await viewer.types('/vps list');
  await viewer.sees('web-1');
}

describe.concurrent('a mention', () => {
  it('runs the same command as /vps, and posts the outcome in its thread', async () => {
    await using team = await startWithServers();
    const delivery = await team.operator.types('@vps reboot web-1');
    expect(delivery).toMatchObject({ status: 200 });
    expect(delivery?.tookMs).toBeLessThan(3000);
    const root = team.operator.messages().at(-1)?.ts ?? '';
    await team.slack.as('vera').thread(root).sees('@otto rebooted web-1');
    team.operator.doesNotSee('rebooted web-1');
    const audit = await rawUser(team, 'otto').audit();
    expect(audit.map(({ action, surface, outcome }) => [action, surface, outcome])).toEqual([
      ['reboot', 'mention', 'done'],
      ['reboot', 'mention', 'started'],
    ]);
  });

  it('in a thread is answered in that thread, visible only to its user', async () => {
    await using team = await startWithServers();
    const ts = await team.slack.posts('#ops', { text: 'Disk full on web-1' });
    const operator = team.slack.as('otto').thread(ts);
    await operator.types('@vps show web-1');
    await operator.sees('Paid until');
    expect(operator.messages().at(-1)).toMatchObject({ ephemeral: true, threadTs: ts });
    team.slack.as('vera').thread(ts).doesNotSee('Paid until');
    await operator.presses('Reboot');
    await team.slack.as('vera').thread(ts).sees('@otto rebooted web-1');
    operator.in('#ops').doesNotSee('rebooted web-1');
  });

  it('acts on a sentence as its user means it', async () => {
    await using team = await startWithServers();
    for (const [sentence, outcome] of [
      ['please reboot the server web-1 now', 'rebooted web-1'],
      ['Hey, could you restart web-2 please?', 'rebooted web-2'],
      ['shutdown web-3', 'stopped web-3'],
    ] as const) {
      await team.operator.types(`@vps ${sentence}`);
      await team.slack.as('vera').inThreadOf(sentence).sees(`@otto ${outcome}`);
    }
    expect(changesSeen(team)).toHaveLength(3);
    const audit = await rawUser(team, 'otto').audit();
    expect(audit.filter(({ outcome }) => outcome === 'done')).toHaveLength(3);
    expect(audit).toHaveLength(6);
  });

  it('asks before it acts if a sentence has words that it doesn’t know, and leaves no audit entries of them', async () => {
    await using team = await startWithServers();
    const operator = team.slack.as('otto').in('dm');
    for (const sentence of [
      'please reboot web-1, ticket 1002',
      'reboot all except web-1',
      'please reboot web-1 tomorrow, not now',
    ]) {
      operator.overlooksOldMessages();
      await operator.types(sentence);
      await operator.sees('No server matches');
      await operator.sees('web-1');
    }
    await operator.types('reboot whatever is broken');
    await operator.sees('Nothing was rebooted.');
    await operator.sees('No server matches whatever.');
    expect(changesSeen(team)).toEqual([]);
    expect(await rawUser(team, 'otto').audit()).toEqual([]);
  });

  it('is no command unless the message begins with it, and only in the first line; the rest may give reasons', async () => {
    await using team = await startWithServers();
    for (const text of ['thanks @vps stop web-1 was right', 'stop web-1 @vps', 'hey @vps']) {
      team.operator.overlooksOldMessages();
      await team.operator.types(text);
      await team.operator.sees('begin your message with the mention');
    }
    expect(changesSeen(team)).toEqual([]);
    await team.operator.types('@vps stop web-1\nweb-2 took over');
    await team.operator.inThreadOf('took over').sees('@otto stopped web-1');
    expect(changesSeen(team)).toHaveLength(1);
  });

  it('offers a button for a command that needs a form, and the outcome follows', async () => {
    await using team = await startWithServers();
    const { manager } = team;
    await manager.types('@vps create plan=small location=ams image=debian-13 label=web-9');
    await manager.sees('press the button to open it');
    await manager.presses('Create a server…');
    await manager.presses('Create and pay');
    await manager.sees('web-9 is being created');
    await manager.closes();
    await manager.sees('Root password');
    expect(team.hosting.charges(team.account)).toHaveLength(1);
  });

  it('in a thread has its purchase announced in that thread, also after a restart', async () => {
    await using team = await startWithServers();
    const ts = await team.slack.posts('#ops', { text: 'We need one more server' });
    const manager = team.slack.as('mara').thread(ts);
    await manager.types('@vps renew web-1');
    await manager.presses('Renew a server…');
    await manager.sees('Renew and pay');
    await team.restart();
    await manager.presses('Renew and pay');
    await manager.sees('web-1 was renewed');
    await manager.closes();
    await team.slack.as('vera').thread(ts).sees('@mara renewed web-1');
    team.viewer.doesNotSee('renewed web-1');
  });

  it('by a user of another organization is refused with an explanation, in its thread if it is in one', async () => {
    await using team = await startWithServers();
    const outsider = team.slack.as('sam').in('#acme-shared');
    for (const text of ['reboot web-1', 'nonsense', '']) {
      outsider.overlooksOldMessages();
      await outsider.types(`@vps ${text}`.trim());
      await outsider.sees('another organization');
      expect(outsider.messages().filter(({ ephemeral }) => ephemeral)).toHaveLength(1);
      const [denied] = await rawUser(team, 'sam').audit();
      expect(denied).toMatchObject({ outcome: 'denied', code: 'other_organization', surface: 'mention' });
    }
    expect(await rawUser(team, 'sam').audit()).toHaveLength(3);
    const member = team.slack.as('otto').in('#acme-shared');
    await member.types('what now?');
    const root = member.messages().at(-1)?.ts ?? '';
    outsider.overlooksOldMessages();
    await outsider.thread(root).types('@vps list');
    await outsider.thread(root).sees('another organization');
    outsider.doesNotSee('another organization');
    expect(changesSeen(team)).toEqual([]);
  });

  it('acts once, however often and late Slack delivers it again, also after a restart', async () => {
    await using team = await startWithServers();
    team.slack.faults.repeatEvents();
    const delivery = await team.operator.types('@vps stop web-1');
    if (!delivery) throw new Error('nothing was delivered');
    await team.operator.inThreadOf('stop web-1').sees('stopped web-1');
    await team.slack.redeliver(delivery);
    await team.restart();
    await team.slack.deliverBody('json', delivery.body);
    const other = JSON.parse(delivery.body);
    await team.slack.deliverBody('json', JSON.stringify({ ...other, event_id: 'Ev0ANOTHER' }));
    await answeredAll(team);
    expect(changesSeen(team)).toHaveLength(1);
    expect(team.operator.messages().filter(({ ephemeral }) => ephemeral)).toEqual([]);
    const audit = await rawUser(team, 'otto').audit();
    expect(audit).toHaveLength(2);
  });

  it('is not carried out again when it is edited, or when it is added to an existing message', async () => {
    await using team = await startWithServers();
    await team.operator.types('@vps stop web-1');
    await team.operator.inThreadOf('stop web-1').sees('stopped web-1');
    await team.operator.edits('stop web-1', '@vps stop web-2');
    await team.operator.types('good morning');
    await team.operator.edits('good morning', '@vps stop web-3');
    await answeredAll(team);
    expect(changesSeen(team)).toHaveLength(1);
  });

  it('by another app, or in a message of Slack’s own, does nothing', async () => {
    await using team = await startWithServers();
    await team.slack.posts('#ops', { text: `<@${APP.botUserId}> stop web-1` });
    const event = { type: 'app_mention', text: `<@${APP.botUserId}> stop web-1`, channel: 'C0OPS00001' };
    for (const odd of [
      { user: 'USLACKBOT' },
      { user: USERS.otto.id, bot_id: 'B1' },
      { user: USERS.otto.id, subtype: 'bot_message' },
      { user: USERS.otto.id, subtype: 'message_changed' },
    ])
      await team.slack.sendEvent({ ...event, ...odd, ts: `${Math.floor(Date.now() / 1000)}.000200` });
    await answeredAll(team);
    expect(changesSeen(team)).toEqual([]);
    expect(await rawUser(team, 'otto').audit()).toEqual([]);
  });

  it('is answered with an explanation, and does nothing, when the database can’t be written', async () => {
    await using team = await startWithServers();
    const receive = vi.spyOn(team.app.ports.seenRequests, 'addAll').mockRejectedValue(new Error('disk full'));
    await team.operator.types('@vps stop web-1');
    await team.operator.sees('Something went wrong');
    receive.mockRestore();
    expect(changesSeen(team)).toEqual([]);
  });
});

describe.concurrent('a direct message', () => {
  it('runs the same command as /vps once, also if it is edited, and is answered in the conversation or in its thread', async () => {
    await using team = await startWithServers();
    const operator = team.slack.as('otto').in('dm');
    await operator.types('reboot web-1');
    await operator.sees('web-1 was rebooted');
    expect(operator.messages().at(-1)).toMatchObject({ ephemeral: false });
    const [done] = await rawUser(team, 'otto').audit();
    expect(done).toMatchObject({ action: 'reboot', surface: 'direct_message', outcome: 'done' });
    await answeredAll(team);
    // One of the user, one of the app: its own messages are no commands.
    expect(operator.messages()).toHaveLength(2);
    await operator.edits('reboot web-1', 'stop web-2');
    await answeredAll(team);
    expect(changesSeen(team)).toHaveLength(1);
    const root = operator.messages()[0]?.ts ?? '';
    await operator.thread(root).types('show web-2');
    await operator.thread(root).sees('Paid until');
    operator.doesNotSee('Paid until');
  });

  it('never posts a root password in the conversation: a button shows it in an ephemeral message', async () => {
    await using team = await startWithServers();
    await createServer(team.manager, 'web-9');
    const direct = team.manager.in('dm');
    await direct.types('password web-9');
    await direct.sees('nobody else can see. Press the button');
    await direct.presses('Show password');
    await direct.sees("I've saved it");
    const shown = direct.messages().filter(({ blocks }) => blocks.some(({ type }) => type === 'rich_text'));
    expect(shown.map(({ ephemeral }) => ephemeral)).toEqual([true]);
  });
});

it.concurrent('every command needs the same role in a message as in a slash command', async () => {
  await using team = await startWithServers();
  const restricted = commands.filter(({ needs }) => needs !== 'anyone');
  expect(restricted.length).toBeGreaterThan(10);
  for (const [at, { name }] of restricted.entries()) {
    const user = team.slack.as('nora').in(at % 2 === 0 ? '#ops' : 'dm');
    user.overlooksOldMessages();
    await user.types(at % 2 === 0 ? `@vps ${name} web-1` : `${name} web-1`);
    await user.sees(/You need the \w+ role|takes no arguments|Usage: /);
  }
  const entries = await rawUser(team, 'nora').audit();
  expect(entries.filter(({ outcome }) => outcome !== 'denied')).toEqual([]);
  expect(changesSeen(team)).toEqual([]);
});
