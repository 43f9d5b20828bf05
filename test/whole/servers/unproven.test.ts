import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import type { FaultRule } from '../../../src/sandbox/hosting/faults.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { rawUser } from '../../support/raw-user.ts';
import { startTeam, type Team, type TeamOptions } from '../../support/team.ts';

type Answers = NonNullable<NonNullable<TeamOptions['hosting']>['answers']>;

async function startWithServer(answers: Answers = {}): Promise<Team> {
  const team = await startTeam({ settings: { HOSTING_TIMEOUT_MS: '1500' }, hosting: { answers } });
  team.hosting.seedServers(team.account, 1, 'web');
  return team;
}

/** How the audit says that this user's last act ended. */
async function lastAct(team: Team, who: 'otto' | 'mara', action: string): Promise<string> {
  const entries = (await rawUser(team, who).audit()).filter((entry) => entry.action === action);
  return `${entries[0]?.outcome} ${entries[0]?.code ?? ''}`.trim();
}

/** What the answer to a change can be without saying whether it was done. */
const NO_PROOF: readonly (readonly [Omit<FaultRule, 'on'>, code: string])[] = [
  [{ kind: 'hang' }, 'no_answer'],
  [{ kind: 'hang_before' }, 'no_answer'],
  [{ kind: 'lost_after' }, 'no_answer'],
  [{ kind: 'lost_before' }, 'no_answer'],
  [{ kind: 'status_500' }, 'unreadable_answer'],
  [{ kind: 'status_500_after' }, 'unreadable_answer'],
  [{ kind: 'html' }, 'unreadable_answer'],
  [{ kind: 'garbage' }, 'unreadable_answer'],
  [{ kind: 'error_beside' }, 'unreadable_answer'],
  [{ kind: 'error_in_2xx' }, 'unreadable_answer'],
  [{ kind: 'error', code: 'checking' }, 'checking'],
];

const PAST = { start: 'started', stop: 'stopped', reboot: 'rebooted' } as const;
const POWER_ACTIONS = ['stop', 'start', 'reboot'] as const;

describe.concurrent('an answer that proves nothing', () => {
  test.each(
    NO_PROOF,
  )('makes every power action unconfirmed, to its user and in the audit: %o', async (fault, code) => {
    await using team = await startWithServer();
    const operator = team.slack.as('otto').in('#ops');
    for (const action of POWER_ACTIONS) {
      team.hosting.faults.add({ on: action, ...fault });
      await operator.types(`/vps ${action} web-1`);
      await operator.sees(`We’re not sure whether web-1 was ${PAST[action]}`);
      expect(await lastAct(team, 'otto', action)).toBe(`in_doubt ${code}`);
      // Unless it was done, the next action would find the server in an unfit state.
      await team.app.ports
        .hostingOf(new Secret(team.apiKey), TEAM.id)
        .changePower('stop', 1)
        .catch(() => undefined);
    }
    for (const words of ['stopped web-1', 'started web-1', 'rebooted web-1'])
      expect(team.slack.as('nora').in('#ops').screen()).not.toContain(words);
  });

  test.each(NO_PROOF)('makes a delete unconfirmed, unless the list proves it: %o', async (fault, code) => {
    await using team = await startWithServer();
    team.hosting.faults.add({ on: 'delete', ...fault });
    const manager = await deleteServer(team);
    await manager.sees(/web-1 was deleted\.|We’re not sure whether web-1 was deleted/);
    const isGone = team.hosting.listServers(team.account).length === 0;
    expect(await lastAct(team, 'mara', 'delete')).toBe(isGone ? 'done' : `in_doubt ${code}`);
    expect(manager.screen().includes('We’re not sure')).toBe(!isGone);
    expect(team.hosting.requests({ operation: 'delete' })).toHaveLength(1);
  });
});

describe.concurrent('a delete that is answered with another state than deleted', () => {
  test.each([
    'deleting',
    'running',
  ] as const)('is reported as deleted only when the list proves it: %s', async (deletedState) => {
    await using team = await startWithServer({ deletedState });
    const manager = await deleteServer(team);
    await manager.sees('web-1 was deleted.');
    expect(await lastAct(team, 'mara', 'delete')).toBe('done');
  });

  test('is unconfirmed, and not announced, while the list can’t prove it', async ({ expect }) => {
    await using team = await startWithServer({ deletedState: 'deleting' });
    const manager = await openDelete(team);
    // Every list from here on is one page of a longer one.
    team.hosting.setAnswers({ paging: 'has_more', pageSize: 1 });
    team.hosting.seedServers(team.account, 3, 'other');
    await manager.presses('Delete');
    await manager.sees('We’re not sure whether web-1 was deleted: the hosting API didn’t confirm it.');
    expect(await lastAct(team, 'mara', 'delete')).toBe('in_doubt unreadable_answer');
    expect(team.slack.as('nora').in('#ops').screen()).not.toContain('deleted web-1');
  });
});

describe.concurrent('a start that is answered with another state than running', () => {
  test.each([
    'starting',
    'stopped',
  ] as const)('is reported as begun, not as done: %s', async (startedState) => {
    await using team = await startWithServer({ startedState });
    const operator = team.slack.as('otto').in('#ops');
    await operator.types('/vps stop web-1');
    await operator.sees('stopped web-1');
    await operator.types('/vps start web-1');
    await operator.sees('is starting web-1…');
    expect(operator.screen()).not.toContain('started web-1: ');
  });
});

async function openDelete(team: Team) {
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps delete web-1');
  await manager.fills({ 'To confirm, type web-1': 'web-1' });
  return manager;
}

async function deleteServer(team: Team) {
  const manager = await openDelete(team);
  await manager.presses('Delete');
  return manager;
}
