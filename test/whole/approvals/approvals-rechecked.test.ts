import { describe, test } from 'vitest';
import { Refusal } from '../../../src/core/errors.ts';
import type { Secret } from '../../../src/core/secret.ts';
import type { HostingApi } from '../../../src/hosting/hosting-api.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { movableSystem } from '../../support/movable-system.ts';
import { askDelete, type RuledTeam, startRuledTeam, TWO_PERSONS } from '../../support/ruled-team.ts';

/** From now on the hosting API's answers are these, whatever the account holds. */
function showOtherwise({ app }: RuledTeam, change: (hosting: HostingApi) => Partial<HostingApi>): void {
  const { hostingOf } = app.ports;
  Object.assign(app.ports, {
    hostingOf: (key: Secret<string>) => {
      const hosting = hostingOf(key, TEAM.id);
      return { ...hosting, ...change(hosting) };
    },
  });
}

/** Slack does not answer about users and groups, and its earlier answers are not cached any more. */
function silenceSlack({ slack }: RuledTeam, system: ReturnType<typeof movableSystem>): void {
  for (const method of ['users.info', 'usergroups.list', 'usergroups.users.list'])
    slack.faults.failMethod(method, 'internal_error');
  system.move(6 * 60_000);
}

/** Makes the manager a manager only through a group. */
async function makeManagerByGroup(team: RuledTeam): Promise<void> {
  const subject = { subjectKind: 'user', subjectId: USERS.mara.id } as const;
  await team.app.ports.grants.removeAll(TEAM.id, subject);
  const owner = team.slack.as('olga').in('#general');
  await owner.types('/vps access grant @platform manager');
  await owner.sees('are now managers');
}

async function askRenew(team: RuledTeam, typed: string): Promise<void> {
  await team.manager.types(`/vps renew ${typed}`);
  await team.manager.presses('Request approval');
  await team.manager.sees('Waiting for another manager');
  await team.owner.sees('wants to renew');
}

const renewals = ({ hosting }: RuledTeam) => hosting.requests({ operation: 'renew' }).length;

describe.concurrent('an approval that can’t be checked again', () => {
  test('stays open, with the reason shown, while Slack can’t say whether the requester still has the role', async ({
    expect,
  }) => {
    const system = movableSystem();
    await using team = await startRuledTeam(TWO_PERSONS, { system });
    await makeManagerByGroup(team);
    await team.askCreate();
    silenceSlack(team, system);
    await team.owner.presses('Approve');
    await team.owner.sees('Slack couldn’t confirm whether @mara still has permission');
    await team.owner.sees('Nothing was approved. The request is still pending');
    await team.owner.sees('[Approve]');
    expect(team.creates()).toBe(0);
    expect(await team.listAudit()).toContain('olga approval_answer failed identity_unknown');
    team.slack.faults.clear();
    system.move(31_000);
    await team.owner.presses('Approve');
    await team.manager.sees("I've saved it");
    expect(team.charges()).toBe(1);
  });

  test('stays open while the hosting API does not answer, and shows that it is being checked and then the result', async ({
    expect,
  }) => {
    await using team = await startRuledTeam();
    await team.askCreate();
    team.hosting.faults.add({ on: 'catalog', kind: 'hang', times: 'always' });
    const approving = team.owner.presses('Approve');
    await team.owner.sees('Checking that nothing has changed');
    await team.owner.sees(
      'The hosting API didn’t answer. Nothing was approved. The request is still pending',
      10_000,
    );
    await approving;
    expect(await team.listAudit()).toContain('olga approval_answer failed no_answer');
    team.hosting.faults.clear();
    await team.owner.presses('Approve');
    await team.manager.sees("I've saved it");
    expect(team.charges()).toBe(1);
  });
});

describe.concurrent('an approved payment that a restart left unsent', () => {
  test('waits while Slack can’t say whether the requester still has the role, and is canceled in the end', async ({
    expect,
  }) => {
    const system = movableSystem();
    await using team = await startRuledTeam(TWO_PERSONS, { system });
    await makeManagerByGroup(team);
    silenceSlack(team, system);
    const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
    const order = { plan: 'small', location: 'ams', image: 'debian-13', label: 'web-1' };
    const { ledger } = team.app.ports;
    await ledger.prepare({
      id,
      workspaceId: TEAM.id,
      actorId: USERS.mara.id,
      channelId: 'C0OPS00001',
      purchase: { kind: 'create', order },
      at: system.now(),
    });
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(await ledger.find(id)).toMatchObject({ state: 'prepared' });
    system.move(5 * 60_000);
    await team.manager.sees('The order wasn’t sent in time');
    expect(team.creates()).toBe(0);
  });
});

describe.concurrent('an approval of something that has changed', () => {
  test('is canceled when the server that was to be renewed has another label', async ({ expect }) => {
    await using team = await startRuledTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    await askRenew(team, 'web-1');
    showOtherwise(team, (hosting) => ({
      fetchServers: async (options) => {
        const list = await hosting.fetchServers(options);
        return { ...list, servers: list.servers.map((server) => ({ ...server, label: 'db-prod' })) };
      },
    }));
    await team.owner.presses('Approve');
    await team.manager.sees('web-1 wasn’t renewed: the server’s label has changed since the request');
    expect([renewals(team), team.charges()]).toEqual([0, 0]);
  });

  test('is canceled when the server that was to be renewed was deleted', async ({ expect }) => {
    await using team = await startRuledTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    await askRenew(team, 'web-1');
    showOtherwise(team, (hosting) => ({
      fetchServers: async (options) => {
        const list = await hosting.fetchServers(options);
        return { ...list, servers: list.servers.map((server) => ({ ...server, state: 'deleted' })) };
      },
    }));
    await team.owner.presses('Approve');
    await team.manager.sees('the server no longer exists');
    expect(renewals(team)).toBe(0);
  });

  test('is canceled when its plan is gone, which is not reported as a changed price', async ({ expect }) => {
    await using team = await startRuledTeam();
    await team.askCreate();
    showOtherwise(team, (hosting) => ({
      fetchCatalog: async (options) => {
        const catalog = await hosting.fetchCatalog(options);
        return { ...catalog, plans: catalog.plans.filter(({ code }) => code !== 'small') };
      },
    }));
    await team.owner.presses('Approve');
    await team.manager.sees('the plan, location or image is no longer in the catalog');
    team.manager.doesNotSee('price has changed');
    expect(team.creates()).toBe(0);
  });
});

describe.concurrent('an approved delete that fails', () => {
  test('because the API key can’t be decrypted is reported to the requester and in the card', async ({
    expect,
  }) => {
    await using team = await startRuledTeam();
    team.hosting.seedServers(team.account, 1, 'web');
    await askDelete(team);
    showOtherwise(team, () => ({
      deleteServer: async () => {
        throw new Refusal('key_unreadable', { keyId: 'k1' });
      },
    }));
    await team.owner.presses('Approve');
    await team.manager.sees('web-1 wasn’t deleted. Stored data was encrypted with key k1');
    await team.owner.sees('web-1 wasn’t deleted');
    expect(await team.listAudit()).toContain('mara delete failed key_unreadable');
  });
});

describe.concurrent('a label of 600 characters', () => {
  const PREFIX = `web-${'a'.repeat(591)}-prod`;

  async function startWithPattern() {
    const team = await startRuledTeam();
    await team.app.ports.grants.put({
      workspaceId: TEAM.id,
      subjectKind: 'user',
      subjectId: USERS.mara.id,
      role: 'manager',
      pattern: '*-prod-1',
      grantedBy: USERS.olga.id,
      grantedAt: 0,
    });
    const [id = 0] = team.hosting.seedServers(team.account, 1, PREFIX);
    return Object.assign(team, { serverId: id });
  }

  test('can be renewed by a user whose role pattern matches its end, with another manager’s approval', async ({
    expect,
  }) => {
    await using team = await startWithPattern();
    await askRenew(team, String(team.serverId));
    await team.owner.presses('Approve');
    await team.manager.sees('is now paid until');
    expect(renewals(team)).toBe(1);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('is distinguished from another label that differs only at its end', async ({ expect }) => {
    await using team = await startWithPattern();
    await askRenew(team, String(team.serverId));
    showOtherwise(team, (hosting) => ({
      fetchServers: async (options) => {
        const list = await hosting.fetchServers(options);
        return { ...list, servers: list.servers.map((server) => ({ ...server, label: `${PREFIX}-2` })) };
      },
    }));
    await team.owner.presses('Approve');
    await team.manager.sees('the server’s label has changed since the request');
    expect(renewals(team)).toBe(0);
  });
});
