import { expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts';
import { orderOf } from '../../support/acts.ts';
import { movableSystem } from '../../support/clocks.ts';
import { runProgram } from '../../support/programs.ts';
import type { Persona } from '../../support/slack/persona.ts';
import { startTeam } from '../../support/team.ts';

// The tests wait for seconds, and each has a team of its own, so they run concurrently.

/** The messages of the channel: on a busy machine the actor is also told, alone, that it is being worked on. */
const posted = (user: Persona) =>
  user.messages().flatMap(({ shown, ephemeral }) => (ephemeral ? [] : [shown]));

it.concurrent('the channel, Home and the command line say that they didn’t observe a reboot', async () => {
  const system = movableSystem();
  await using team = await startTeam({ servers: 2, system });
  await team.operator.types('/vps reboot web-2');
  await team.operator.sees('@otto rebooted web-2: 🟢 running');
  const rebooted = await runProgram(['vps', 'reboot', 'web-1', '--yes'], team.environment);
  expect(rebooted.output).toMatch(/^web-1 was rebooted: running \(change not observed, 1\d s\)\n$/);
  expect(rebooted.code).toBe(0);
  await team.operator.sees(/@otto rebooted web-2: 🟢 running \(change not observed, 1\d s\)/);
  expect(posted(team.operator)).toHaveLength(1);
  system.move(27 * DAY_MS);
  const otto = team.slack.as('otto').in('dm');
  await otto.opensHome();
  await otto.sees('2 servers need attention');
  await otto.presses('Reboot');
  await otto.sees(/web-2 is 🟢 running \(change not observed, 1\d s\)\./);
});

it.concurrent('several servers are listed in one message, which is edited as they settle', async () => {
  await using team = await startTeam({ servers: 3, hosting: { rebootDelayMs: 3000 } });
  await team.operator.types('/vps reboot web-1 web-2 web-3');
  await team.operator.sees('@otto is rebooting web-1, web-2, web-3');
  await team.operator.sees('web-1 is 🟡 rebooting.\nweb-2 is 🟡 rebooting.');
  await team.operator.sees('@otto rebooted web-1, web-2, web-3');
  await team.operator.sees(/web-1 is 🟢 running \(\d+ s\)\.\nweb-2 is 🟢 running \(\d+ s\)\./);
  expect(posted(team.operator)).toHaveLength(1);
});

it.concurrent('a new server is announced in one message, is ready when it runs and has an address, and a renewal is reported as the list of servers shows it', async () => {
  await using team = await startTeam({ servers: 0, hosting: { createDelayMs: 3000 } });
  const { manager } = team;
  await manager.types(orderOf('new-1'));
  team.hosting.faults.add({ on: 'create', kind: 'slow', delayMs: 800 });
  await manager.presses('Create and pay');
  await team.viewer.sees('@mara is creating new-1…');
  await team.viewer.sees('@mara created new-1');
  await manager.closes();
  await team.viewer.sees(/@mara created new-1\. Ready: ssh root@[\d.]+/);
  // Below the root password, which only she sees.
  await manager.sees(/new-1 is 🟢 running\. Log in with ssh root@[\d.]+/);
  expect(team.viewer.screen()).not.toContain('Log in with');
  expect(posted(team.viewer)).toHaveLength(1);
  await manager.types('/vps renew new-1');
  await manager.presses('Renew and pay');
  await manager.closes();
  await team.viewer.sees(/@mara renewed new-1 until \w+/);
});

it.concurrent('a server that has not settled in ten minutes is named, with the buttons to look at it and to try again', async ({
  expect,
}) => {
  const system = movableSystem();
  await using team = await startTeam({ servers: 1, system, hosting: { rebootDelayMs: HOUR_MS } });
  const { operator, viewer } = team;
  await operator.types('/vps reboot web-1');
  await operator.sees('@otto is rebooting web-1…');
  const screenLater = () => {
    system.move(MINUTE_MS / 2);
    return viewer.screen();
  };
  await expect.poll(screenLater, { interval: 500 }).toMatch(/still .* after 10 min/);
  expect(viewer.screen()).toContain('[Try again]');
  await viewer.presses('Show server');
  await viewer.sees('Paid until');
});

it.concurrent('a reboot is followed across a restart, in the same message', async () => {
  await using team = await startTeam({ servers: 1, hosting: { rebootDelayMs: 4000 } });
  await team.operator.types('/vps reboot web-1');
  await team.operator.sees('@otto is rebooting web-1…');
  await team.restart();
  await team.operator.sees(/@otto rebooted web-1: 🟢 running \(\d+ s\)/);
  expect(posted(team.operator)).toHaveLength(1);
});
