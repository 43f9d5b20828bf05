import { describe, expect, test } from 'vitest';
import { readStatus } from '../../../src/app/account/read-status.ts';
import { createEntry } from '../../../src/app/authorize/entry.ts';
import type { RefusalDetails } from '../../../src/domain/errors.ts';
import { Refusal } from '../../../src/domain/errors.ts';
import { newCreate, T0 } from '../../store/support.ts';
import { holdPassword } from './support/held-password.ts';
import { CHANNEL, CREATOR, GROUP, type LeftTeam, OWNER, startLeftTeam } from './support/left-team.ts';

type Change = (team: LeftTeam) => unknown;

const deactivate: Change = ({ slack }) => slack.users.set(CREATOR, { deleted: true });
const silence: Change = ({ slack }) => slack.users.set(CREATOR, 'internal_error');

/** What an owner reads of the creator: the reason why they are gone, that it is unknown, or that they are there. */
async function readAs(team: LeftTeam, userId = OWNER): Promise<string> {
  const refusal = await team.look(userId);
  if (!(refusal instanceof Refusal)) return 'shown';
  expect(refusal.code).toBe('not_creator');
  const details = refusal.details as RefusalDetails['not_creator'];
  expect(details.label).toBe('web-1');
  if (details.unknownCreatorId !== undefined) return 'unknown';
  return details.left?.absence ?? 'there';
}

const GONE: readonly [name: string, reason: string, change: Change][] = [
  ['is deactivated, and still has a role of their own', 'creator_deactivated', deactivate],
  [
    'is a member of another workspace of the Enterprise Grid only',
    'creator_not_member',
    ({ slack }) => slack.users.set(CREATOR, { team_id: 'T2', enterprise_user: { teams: ['T2'] } }),
  ],
  [
    'is from another organization by now',
    'creator_not_member',
    ({ slack }) => slack.users.set(CREATOR, { is_stranger: true }),
  ],
  ['is unknown to Slack', 'creator_not_member', ({ slack }) => slack.users.delete(CREATOR)],
  ['has lost their role', 'creator_without_role', ({ revoke }) => revoke()],
  [
    'has a role for other servers only',
    'creator_without_role',
    async ({ revoke, grant }) => {
      await revoke();
      await grant({ subjectId: CREATOR, pattern: 'db-*' });
    },
  ],
  [
    'has a role that has ended, and that is not removed yet',
    'creator_without_role',
    async ({ revoke, grant }) => {
      await revoke();
      await grant({ subjectId: CREATOR, until: T0 - 1 });
      await grant({ subjectKind: 'channel', subjectId: CHANNEL, until: T0 - 1 });
    },
  ],
  [
    'has left the group that has the role',
    'creator_without_role',
    async ({ revoke, grant }) => {
      await revoke();
      await grant({ subjectKind: 'group', subjectId: GROUP });
    },
  ],
  [
    'has left the channel that has the role',
    'creator_without_role',
    async ({ revoke, grant, slack }) => {
      await revoke();
      await grant({ subjectKind: 'channel', subjectId: CHANNEL });
      slack.members = [OWNER];
    },
  ],
  [
    'is a guest by now, for whom the roles of groups and channels don’t count',
    'creator_without_role',
    async ({ revoke, grant, slack }) => {
      await revoke();
      await grant({ subjectKind: 'group', subjectId: GROUP });
      await grant({ subjectKind: 'channel', subjectId: CHANNEL });
      slack.groups = slack.members = [CREATOR];
      slack.users.set(CREATOR, { is_restricted: true });
    },
  ],
  [
    'has no role of their own, and no other roles count without the scope users:read',
    'creator_without_role',
    async ({ revoke, slack }) => {
      await revoke();
      for (const id of [CREATOR, OWNER]) slack.users.set(id, 'missing_scope');
    },
  ],
  [
    'has no role of their own, and Slack doesn’t show them to the app',
    'creator_without_role',
    async ({ revoke, slack }) => {
      await revoke();
      slack.users.set(CREATOR, 'user_not_visible');
    },
  ],
];

const THERE: readonly [name: string, change: Change][] = [
  ['has a role of their own', () => undefined],
  [
    'has a role for this server',
    async ({ revoke, grant }) => {
      await revoke();
      await grant({ subjectId: CREATOR, pattern: 'web-*' });
    },
  ],
  [
    'has the role of a group',
    async ({ revoke, grant, slack }) => {
      await revoke();
      await grant({ subjectKind: 'group', subjectId: GROUP });
      slack.groups = [CREATOR];
    },
  ],
  [
    'is in a channel that has the role',
    async ({ revoke, grant, slack }) => {
      await revoke();
      await grant({ subjectKind: 'channel', subjectId: CHANNEL });
      slack.members = [CREATOR];
    },
  ],
  [
    'is an admin of the Slack workspace',
    async ({ revoke, slack }) => {
      await revoke();
      slack.users.set(CREATOR, { is_admin: true });
    },
  ],
  [
    'has a role of their own, and the app can’t look users up (missing scope)',
    ({ slack }) => slack.users.set(CREATOR, 'missing_scope'),
  ],
  [
    'has a role of their own, and Slack doesn’t show them to the app, which proves nothing',
    ({ slack }) => slack.users.set(CREATOR, 'user_not_visible'),
  ],
];

const UNKNOWN: readonly [name: string, change: Change][] = [
  ['has a role, and Slack doesn’t say whether they are deactivated', silence],
  [
    'has no role here, and Slack doesn’t say whether they are an admin',
    async (team) => {
      await team.revoke();
      await silence(team);
    },
  ],
  [
    'may be in the group that has the role',
    async ({ revoke, grant, slack }) => {
      await revoke();
      await grant({ subjectKind: 'group', subjectId: GROUP });
      slack.groups = 'internal_error';
    },
  ],
  [
    'may be in the channel that has the role',
    async ({ revoke, grant, slack }) => {
      await revoke();
      await grant({ subjectKind: 'channel', subjectId: CHANNEL });
      slack.members = 'channel_not_found';
    },
  ],
];

describe('a root password whose creator', () => {
  test.each(GONE)('%s can be erased by an owner, and is not opened', async (_name, reason, change) => {
    const team = await startLeftTeam();
    await change(team);
    expect(await readAs(team)).toBe(reason);
    expect(await team.press()).toEqual({ label: 'web-1' });
    expect(await team.isHeld()).toBe(false);
    expect(team.opened).toEqual([]);
    expect(await team.audited()).toMatchObject([
      {
        actorId: OWNER,
        outcome: 'done',
        code: reason,
        label: `web-1 ${CREATOR}`,
        serverId: 7,
        operationId: team.held.operationId,
      },
    ]);
  });

  test.each(THERE)('%s can’t be erased', async (_name, change) => {
    const team = await startLeftTeam();
    await change(team);
    expect(await readAs(team)).toBe('there');
    await expect(team.press()).rejects.toMatchObject({ code: 'creator_present' });
    expect(await team.isHeld()).toBe(true);
    expect(await team.audited()).toMatchObject([{ outcome: 'denied', code: 'creator_present' }]);
  });

  test.each(UNKNOWN)('%s can’t be erased', async (_name, change) => {
    const team = await startLeftTeam();
    await change(team);
    expect(await readAs(team)).toBe('unknown');
    await expect(team.press()).rejects.toMatchObject({
      code: 'identity_unknown',
      details: { userId: CREATOR },
    });
    expect(await team.isHeld()).toBe(true);
  });
});

describe('an owner who was told that the creator is gone', () => {
  test('can’t erase the password once Slack says that the creator is back', async () => {
    const team = await startLeftTeam();
    deactivate(team);
    expect(await readAs(team)).toBe('creator_deactivated');
    team.slack.users.set(CREATOR, {});
    await expect(team.press()).rejects.toMatchObject({ code: 'creator_present' });
    expect(await team.isHeld()).toBe(true);
  });

  test('can’t erase it if Slack doesn’t answer, even if it said a moment ago that the creator is gone', async () => {
    const team = await startLeftTeam();
    team.slack.users.delete(CREATOR);
    expect(await readAs(team)).toBe('creator_not_member');
    for (const error of ['internal_error', 'ratelimited']) {
      team.slack.users.set(CREATOR, error);
      await expect(team.press()).rejects.toMatchObject({ code: 'identity_unknown' });
    }
    expect(await team.isHeld()).toBe(true);
  });

  test('can’t erase it if the creator gets a role while they are looked up', async () => {
    const team = await startLeftTeam();
    await team.revoke();
    const { find } = team.ports.users;
    let isGranted = false;
    const users = {
      ...team.ports.users,
      find: async (...asked: Parameters<typeof find>) => {
        const found = await find(...asked);
        // After the grants have been read.
        if (!isGranted && asked[1] === CREATOR) {
          isGranted = true;
          setTimeout(() => void team.grant({ subjectId: CREATOR }), 0);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        return found;
      },
    };
    Object.assign(team.ports, { users });
    await expect(team.press()).rejects.toMatchObject({ code: 'grants_moved' });
    expect(isGranted).toBe(true);
    expect(await team.isHeld()).toBe(true);
  });

  async function demoteOwner() {
    const team = await startLeftTeam();
    await team.store.grants.removeAll('T1', { subjectKind: 'user', subjectId: OWNER });
    team.slack.users.set(OWNER, { is_admin: true });
    deactivate(team);
    expect(await readAs(team)).toBe('creator_deactivated');
    team.slack.users.set(OWNER, {});
    return team;
  }

  test('can’t erase it once they are no longer an owner, even if Slack said so a moment ago', async () => {
    const team = await demoteOwner();
    await expect(team.press()).rejects.toMatchObject({ code: 'role_needed' });
    expect(await team.isHeld()).toBe(true);
  });

  test('is told nothing more once they are no longer an owner, even if Slack said so a moment ago', async () => {
    expect(await readAs(await demoteOwner())).toBe('there');
  });

  test('erases it once: a second press finds nothing, also at the same moment', async () => {
    const team = await startLeftTeam();
    deactivate(team);
    const presses = await Promise.allSettled([team.press(), team.press(), team.press()]);
    expect(presses.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const press of presses) {
      if (press.status === 'rejected')
        expect(press.reason).toMatchObject({ code: 'no_password', details: { label: 'web-1' } });
    }
    await expect(team.press()).rejects.toMatchObject({ code: 'no_password' });
    const outcomes = (await team.audited()).map(({ outcome }) => outcome);
    expect(outcomes.sort()).toEqual(['done', 'failed', 'failed', 'failed']);
    expect(await team.store.audit.verify('T1')).toMatchObject({ ok: true });
  });
});

describe('anybody else', () => {
  test.each([
    ['a user without a role', {}],
    ['a manager', { role: 'manager' }],
    ['a user whom Slack knows nothing of just now', 'silent'],
  ] as const)('gets the same refusal as ever: %s', async (_who, kind) => {
    const team = await startLeftTeam();
    team.slack.users.set('UOTHER', kind === 'silent' ? 'internal_error' : {});
    if (typeof kind !== 'string' && 'role' in kind)
      await team.grant({ subjectId: 'UOTHER', role: kind.role });
    deactivate(team);
    const refusal = await team.look('UOTHER');
    expect(refusal).toMatchObject({ code: 'not_creator' });
    expect((refusal as Refusal).details).toEqual({ label: 'web-1' });
    const code = kind === 'silent' ? 'identity_unknown' : 'role_needed';
    await expect(team.press('UOTHER')).rejects.toMatchObject({ code });
    expect(await team.isHeld()).toBe(true);
    expect(await team.audited()).toMatchObject([{ actorId: 'UOTHER', outcome: 'denied', code }]);
    expect((await team.audited())[0]).not.toHaveProperty('label');
  });

  test('still sees their own root password, if they are the creator and have lost their role', async () => {
    const team = await startLeftTeam();
    await team.revoke();
    expect(await readAs(team, CREATOR)).toBe('shown');
    await expect(team.press(CREATOR)).rejects.toMatchObject({ code: 'role_needed' });
  });

  test('does not make the app ask Slack afresh, except for owners', async () => {
    const team = await startLeftTeam();
    let fresh = 0;
    const { find } = team.ports.users;
    const users = {
      ...team.ports.users,
      find: (...asked: Parameters<typeof find>) => {
        if (asked[2]?.isFresh) fresh += 1;
        return find(...asked);
      },
    };
    Object.assign(team.ports, { users });
    team.slack.users.set('UOTHER', {});
    await team.look('UOTHER');
    expect(fresh).toBe(0);
    await team.look(OWNER);
    expect(fresh).toBeGreaterThan(0);
  });
});

describe('several root passwords', () => {
  test('of one creator make the app ask Slack about them once', async () => {
    const team = await startLeftTeam();
    for (const serverId of [8, 9])
      await holdPassword(team.store, { creatorId: CREATOR, label: `web-${serverId}`, serverId });
    deactivate(team);
    expect(await team.look(OWNER, 'web')).toMatchObject({ code: 'ambiguous_server' });
    expect(team.asked).toEqual([CREATOR]);
    await team.press();
    expect(team.asked).toEqual([CREATOR, CREATOR]);
  });

  test('an owner chooses among those whose creators are gone', async () => {
    const team = await startLeftTeam();
    await team.grant({ subjectId: 'UTHERE' });
    team.slack.users.set('UTHERE', {});
    await holdPassword(team.store, { creatorId: 'UTHERE', label: 'web-2', serverId: 8 });
    deactivate(team);
    expect(await team.look(OWNER, 'web')).toMatchObject({
      code: 'not_creator',
      details: { label: 'web', left: { serverId: 7, label: 'web-1' } },
    });
    await holdPassword(team.store, { creatorId: CREATOR, label: 'web-3', serverId: 9 });
    expect(await team.look(OWNER, 'web')).toMatchObject({
      code: 'ambiguous_server',
      details: { servers: [{ id: 7 }, { id: 9 }] },
    });
    expect(await team.look(OWNER, 'web-2')).toMatchObject({
      code: 'not_creator',
      details: { label: 'web-2' },
    });
  });

  test('of two servers with the same ID, only the one whose creator is gone can be erased', async () => {
    const team = await startLeftTeam();
    await team.grant({ subjectId: 'UTHERE' });
    team.slack.users.set('UTHERE', {});
    const other = await holdPassword(team.store, { creatorId: 'UTHERE', label: 'db-1', serverId: 7 });
    deactivate(team);
    expect(await team.look(OWNER, '7')).toMatchObject({
      details: { left: { operationId: team.held.operationId } },
    });
    await team.press();
    await expect(team.press(OWNER, other.operationId)).rejects.toMatchObject({ code: 'creator_present' });
    expect(await team.store.passwords.listHeld('T1')).toMatchObject([{ operationId: other.operationId }]);
  });

  test('/vps status lists for owners alone which they can erase', async () => {
    const team = await startLeftTeam();
    await holdPassword(team.store, { creatorId: OWNER, label: 'own-1', serverId: 8 });
    await team.grant({ subjectId: 'UOTHER', role: 'manager' });
    const entry = createEntry(team.ports);
    const status = (userId: string) =>
      entry.execute(
        readStatus,
        {},
        {
          actor: { workspaceId: 'T1', userId, channelId: CHANNEL },
          surface: 'command',
        },
      );
    expect((await status(OWNER)).leftPasswords).toEqual([]);
    await team.revoke();
    expect((await status(OWNER)).leftPasswords).toMatchObject([
      { label: 'web-1', creatorId: CREATOR, absence: 'creator_without_role' },
    ]);
    const other = await status('UOTHER');
    expect(other).toMatchObject({ passwordsHeld: 2, leftPasswords: [] });
    expect(team.opened).toEqual([]);
  });
});

describe('nothing can be erased', () => {
  test('of an order that has not settled, whose creator is gone', async () => {
    const team = await startLeftTeam();
    const operation = newCreate('web-9', { actorId: CREATOR });
    await team.store.ledger.prepare(operation);
    deactivate(team);
    const refused = { code: 'no_password', details: { label: 'web-9' } };
    expect(await team.look(OWNER, 'web-9')).toMatchObject(refused);
    await expect(team.press(OWNER, operation.id)).rejects.toMatchObject(refused);
  });

  test('of another workspace, and nothing about it is revealed', async () => {
    const team = await startLeftTeam();
    await team.store.workspaces.put({ id: 'T2', name: 'Other' }, T0);
    const foreign = newCreate('secret-1', { workspaceId: 'T2', actorId: CREATOR });
    await team.store.ledger.prepare(foreign);
    deactivate(team);
    await expect(team.press(OWNER, foreign.id)).rejects.toMatchObject({
      code: 'no_password',
      details: { label: '' },
    });
    await expect(team.press(OWNER, 'none')).rejects.toMatchObject({ details: { label: '' } });
  });
});
