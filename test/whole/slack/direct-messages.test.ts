import { expect, test } from 'vitest';
import { startTeam, type Team } from '../../support/team.ts';

const faultsOf = async ({ appUrl }: Team) => (await fetch(`${appUrl}/readyz`)).text();

async function ask({ slack }: Team, wish: string) {
  const newcomer = slack.as('nora').in('#ops');
  await newcomer.types(`/vps access ask ${wish}`);
  await newcomer.fills({ 'Why do you need it?': 'the release' });
  await newcomer.presses('Send request');
}

test('a request for access reaches the owners as a direct message', async () => {
  await using team = await startTeam();
  await ask(team, 'viewer');
  await team.slack.as('olga').in('dm').sees('the release');
  expect(team.slack.brokenRules()).toEqual([]);
  expect(await faultsOf(team)).not.toContain('messages_tab_disabled');
});

test('an app without a Messages tab is a fault in /readyz until Slack takes a direct message again', async () => {
  await using team = await startTeam();
  team.slack.app.hasMessagesTab = false;
  await ask(team, 'viewer');
  await expect.poll(() => faultsOf(team)).toContain('messages_tab_disabled');
  const owner = team.slack.as('olga').in('#ops');
  await owner.types('/vps status');
  await owner.sees('Turn on the Messages tab');

  team.slack.app.hasMessagesTab = true;
  await ask(team, 'operator');
  await expect.poll(() => faultsOf(team)).not.toContain('messages_tab_disabled');
});
