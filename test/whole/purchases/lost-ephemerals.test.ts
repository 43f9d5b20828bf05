import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/core/time.ts';
import { movableSystem } from '../../support/movable-system.ts';
import { startTeam, type Team } from '../../support/team.ts';

const HOLD_MINUTES = 1;
const DAY_MINUTES = 24 * 60;

/** The manager has created web-1, and Slack accepted the message with its password but never showed it. */
async function startUnseen() {
  const system = movableSystem();
  const team = await startTeam({ system, settings: { PASSWORD_HOLD_MINUTES: String(HOLD_MINUTES) } });
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps create plan=small location=ams image=debian-13 label=web-1');
  await manager.sees('Create and pay');
  team.slack.faults.breakReplyUrls();
  team.slack.faults.loseEphemerals();
  await manager.presses('Create and pay');
  await manager.sees('went through');
  const [server] = team.hosting.listServers(team.account);
  const password = team.hosting.passwordOf(server?.id ?? 0) ?? 'none was made';
  expect(ephemeralsTaken(team)).toBeGreaterThan(0);
  manager.doesNotSee(password);
  return Object.assign(team, { manager, password, server, system });
}

const ephemeralsTaken = (team: Team) =>
  team.slack
    .traffic()
    .filter(({ what, response }) => what === 'chat.postEphemeral' && /"ok":true/.test(response)).length;

const heldBy = (team: Team) => team.app.ports.passwords.listHeld('T0SANDBOX');

describe('a root password that Slack accepted and did not show', () => {
  test('is reported as sent, not as seen, and its creator is told how to show it', async () => {
    await using team = await startUnseen();
    const told = team.manager.screen();
    expect(told).toContain('We sent you the root password');
    expect(told).toContain(`If you don’t see it, /vps password ${team.server?.id} shows it again`);
    const dm = team.slack.as('mara').in('dm');
    const all = [told, ...[...team.manager.messages(), ...dm.messages()].map(({ shown }) => shown)].join(
      '\n',
    );
    expect(all).not.toMatch(/password (is|was|has been) (in|shown|delivered|below)|you (saw|have seen)/i);
  });

  test('is held without a time limit until its creator acts, and is counted in /vps status until then', async () => {
    await using team = await startUnseen();
    await team.manager.closes();
    for (const minutes of [HOLD_MINUTES + 1, 60, DAY_MINUTES, 30 * DAY_MINUTES]) {
      team.system.move(minutes * MINUTE_MS);
      // The start sweeps.
      await team.restart();
      expect(await heldBy(team)).toMatchObject([{ label: 'web-1', creatorId: team.manager.id }]);
    }
    team.slack.faults.clear();
    const viewer = team.slack.as('vera').in('#ops');
    await viewer.types('/vps status');
    await viewer.sees(/Unsaved root passwords\s+1/);
    viewer.doesNotSee(team.password);
  });

  test('is shown to its creator by the command and by the panel, and erased only afterwards', async () => {
    await using team = await startUnseen();
    await team.manager.closes();
    team.slack.faults.clear();
    await team.manager.types('/vps');
    await team.manager.presses('Show password');
    await team.manager.sees(team.password);
    team.manager.overlooksOldMessages();
    await team.manager.types('/vps password');
    await team.manager.sees(team.password);
    team.system.move((HOLD_MINUTES + 1) * MINUTE_MS);
    await team.restart();
    await expect.poll(() => heldBy(team)).toEqual([]);
  });
});

/** Slack shows nothing, and answers like this; the ephemeral message of the bot is refused as well. */
const SAYINGS = [
  ['fails', (team: Team) => team.slack.faults.breakReplyUrls(500)],
  ['has a proxy answer with a page', (team: Team) => team.slack.faults.breakReplyUrls(200)],
  ['says nothing', (team: Team) => team.slack.faults.wordReplyAnswers('')],
] as const;

describe.each(SAYINGS)('a root password whose creator asks for it while Slack %s', (_name, spoil) => {
  test('has no time limit, however often they ask, until Slack has taken it', async () => {
    await using team = await startUnseen();
    await team.manager.closes();
    team.slack.faults.clear();
    await team.manager.types('/vps');
    await team.manager.sees('Show password');
    spoil(team);
    team.slack.faults.failMethod('chat.postEphemeral', 'internal_error');
    const dm = team.slack.as('mara').in('dm');
    const acts = [
      () => team.manager.types('/vps password'),
      () => team.manager.types('@vps password web-1'),
      () => team.manager.presses('Show password'),
      () => dm.types('/vps password web-1'),
    ];
    for (const [at, act] of acts.entries()) {
      await act();
      await expect.poll(() => notConfirmed(dm)).toBe(at + 1);
      expect((await heldBy(team))[0]).not.toHaveProperty('heldUntil');
    }
    team.system.move(60 * MINUTE_MS);
    await team.restart();
    team.slack.faults.clear();
    await team.manager.types('/vps password web-1');
    await team.manager.sees(team.password);
    await expect.poll(() => heldBy(team)).toMatchObject([{ heldUntil: expect.any(Number) }]);
    const seen = team.manager.messages().findLast(({ shown }) => shown.includes(team.password))?.shown;
    expect(seen).toContain('for at least 1 minute, unless you press I’ve saved it');
    const owner = team.slack.as('olga').in('#ops');
    await owner.types('/vps audit web-1');
    await owner.sees(/@mara tried to view the root password of web-1 .*Slack didn’t confirm/);
  });
});

const notConfirmed = (user: { messages(): readonly { shown: string }[] }) =>
  user.messages().filter(({ shown }) => shown.includes('Slack didn’t confirm that it showed you')).length;
