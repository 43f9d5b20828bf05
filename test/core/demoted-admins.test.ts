import { expect, test } from 'vitest';
import { grantAccess } from '../../src/access/grants.ts';
import { readStatus } from '../../src/account/status.ts';
import { createEntry } from '../../src/core/entry.ts';
import { hasRole } from '../../src/core/permission.ts';
import { createGroups, createUsers } from '../../src/slack/directory.ts';
import { newGrant, open } from '../db/support.ts';
import { clientsOf, handClock } from '../slack/support/fakes.ts';
import { makeContext } from '../support/context.ts';

/** A workspace in which U1 is an admin of Slack, until they are not. */
async function startWithAdmin() {
  const clock = handClock();
  const slack = { isAdmin: true, isInGroup: true, isDown: false };
  const findUser = async () => {
    if (slack.isDown) return { ok: false as const, error: 'internal_error' };
    return { ok: true as const, user: { id: 'U1', team_id: 'T1', is_admin: slack.isAdmin } };
  };
  const listGroups = async () => {
    const users = slack.isInGroup ? ['U1'] : [];
    return { ok: true as const, groups: [{ id: 'S1', handle: 'oncall', users }] };
  };
  const store = await open('sqlite::memory:');
  await store.workspaces.put({ id: 'T1', name: 'Acme' });
  const clients = clientsOf({ findUser, listGroups });
  const users = createUsers(clients, clock.system);
  const ports = makeContext(store, {
    users,
    groups: createGroups(clients, clock.system),
    ownersOf: () => ['U9'],
  });
  const entry = createEntry(ports);
  const actor = { workspaceId: 'T1', userId: 'U1', channelId: 'C1' };
  const caller = { actor, surface: 'command' } as const;
  return {
    slack,
    store,
    clock,
    look: () => entry.execute(readStatus, {}, caller),
    grant: () => {
      const wanted = { subjectKind: 'user', subjectId: 'U1', role: 'owner', pattern: '' } as const;
      return entry.execute(grantAccess, wanted, caller);
    },
    maySpend: () => hasRole(actor, 'manager', 'web-1', ports),
  };
}

test('an admin who was demoted a moment ago can’t make themselves an owner', async () => {
  const { slack, store, look, grant } = await startWithAdmin();
  await look();
  slack.isAdmin = false;
  // Looking goes on by what is cached.
  await look();
  await expect(grant()).rejects.toMatchObject({ code: 'role_needed' });
  expect(await store.grants.list('T1')).toEqual([]);
});

test('an admin whom Slack can’t confirm just now can’t make themselves an owner', async () => {
  const { slack, store, look, grant } = await startWithAdmin();
  await look();
  slack.isDown = true;
  await expect(grant()).rejects.toMatchObject({ code: 'identity_unknown' });
  expect(await store.grants.list('T1')).toEqual([]);
});

test('a user who was taken out of a group a few seconds ago can neither grant a role nor pay by the group’s', async () => {
  const { slack, store, clock, look, grant, maySpend } = await startWithAdmin();
  slack.isAdmin = false;
  await store.grants.put(newGrant({ subjectKind: 'group', subjectId: 'S1', role: 'owner' }));
  await look();
  slack.isInGroup = false;
  await clock.pass(4000);
  // Looking goes on by what is cached.
  await look();
  await expect(grant()).rejects.toMatchObject({ code: 'role_needed' });
  expect(await maySpend()).toBe(false);
});
