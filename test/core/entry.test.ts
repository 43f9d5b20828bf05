import { beforeEach, describe, expect, it } from 'vitest';
import type { NewGrant } from '../../src/access/grants.ts';
import type { AppContext, Store } from '../../src/context.ts';
import type { StoredEntry } from '../../src/core/audit-entry.ts';
import { type Caller, createEntry, defineUseCase, type Entry, type UseCase } from '../../src/core/entry.ts';
import { DatabaseUnreachable, HostingError, Refusal } from '../../src/core/errors.ts';
import { hasRole } from '../../src/core/permission.ts';
import { ROLES, type Role, strongestRole } from '../../src/core/roles.ts';
import { Secret } from '../../src/core/secret.ts';
import type { SlackUser, Users } from '../../src/slack/directory.ts';
import { newGrant, open, T0 } from '../db/support.ts';
import { MEMBER, makeContext } from '../support/context.ts';

let store: Store;
let users: Map<string, SlackUser>;
let lookedUp: string[];
/** Members by user group; a group that is not in it can't be looked up. */
let groups: Map<string, readonly string[]>;
let isSlackDown: boolean;
let entry: Entry;
/** How often a use case ran. */
let runs: number;

beforeEach(async () => {
  store = await open('sqlite::memory:');
  await store.workspaces.put({ id: 'T1', name: 'Team' });
  users = new Map([['UADMIN', { ...MEMBER, isAdmin: true }]]);
  lookedUp = [];
  groups = new Map();
  isSlackDown = false;
  runs = 0;
  entry = createEntry(portsWith());
  for (const role of ROLES) await grant(`U${role.toUpperCase()}`, role);
});

function portsWith(more: Partial<AppContext> = {}): AppContext {
  return makeContext(store, {
    users: {
      find: async (_workspaceId, userId) => {
        lookedUp.push(userId);
        return isSlackDown ? undefined : (users.get(userId) ?? MEMBER);
      },
      exists: async () => 'unknown',
    },
    groups: {
      list: async () => undefined,
      listMembers: async (_workspaceId, groupId) => (isSlackDown ? undefined : groups.get(groupId)),
    },
    ownersOf: () => ['UNAMED'],
    ...more,
  });
}

async function grant(subjectId: string, role: Role, more: Partial<NewGrant> = {}): Promise<void> {
  await store.grants.put(newGrant({ subjectId, role, grantedBy: 'UOWNER', ...more }));
}

const roleOf = async (userId: string, more: Partial<Caller['actor']> = {}) =>
  strongestRole((await entry.findRoles({ workspaceId: 'T1', userId, channelId: 'C1', ...more })).held);

function caller(userId: string, more: Partial<Caller['actor']> = {}, requestId?: string): Caller {
  const actor = { workspaceId: 'T1', userId, channelId: 'C1', ...more };
  return { actor, surface: 'command', ...(requestId === undefined ? {} : { requestId }) };
}

type Effect = UseCase<string, string>['effect'];

const act = <Output>(
  run: UseCase<string, Output>['run'],
  needs: Role | 'anyone' = 'operator',
  effect: Effect = 'changes',
) => defineUseCase({ name: 'start', needs, effect, run });

function useCase(needs: Role | 'anyone', effect: Effect = 'reads') {
  const run = async (input: string) => {
    runs += 1;
    return input;
  };
  return act(run, needs, effect);
}

/** The code of the refusal, or `done`. */
const attempt = <Output>(tried: UseCase<string, Output>, by: Caller, at = entry): Promise<string> =>
  at.execute(tried, 'x', by).then(
    () => 'done',
    ({ code }) => code,
  );

async function audited(): Promise<readonly StoredEntry[]> {
  return [...(await store.audit.list({ workspaceId: 'T1', limit: 100 }))].reverse();
}

const outcomes = async () => (await audited()).map(({ outcome, code }) => [outcome, code]);

it('every member of the workspace may do what needs no role, without a look-up', async () => {
  expect(await entry.execute(useCase('anyone'), 'x', caller('UNORA'))).toBe('x');
  expect(lookedUp).toEqual([]);
});

describe('a user from another organization', () => {
  it.each([
    'anyone',
    'viewer',
    'owner',
  ] as const)('is refused what needs %s, even with a grant', async (needs) => {
    users.set('UOWNER', { ...MEMBER, teamIds: ['T9'] });
    const stranger = caller('UOWNER', { homeTeamId: 'T9' });
    expect(await attempt(useCase(needs), stranger)).toBe('other_organization');
    await expect(entry.authorize(useCase(needs), stranger)).rejects.toMatchObject({
      code: 'other_organization',
    });
    expect(await entry.findRoles(stranger.actor)).toEqual({ held: [], possible: [] });
    expect(await outcomes()).toEqual([
      ['denied', 'other_organization'],
      ['denied', 'other_organization'],
    ]);
  });

  it('has no role, also when only Slack’s directory says where the user is from', async () => {
    users.set('UADMIN', { ...MEMBER, isAdmin: true, teamIds: ['T9'] });
    expect(await attempt(useCase('viewer'), caller('UADMIN'))).toBe('role_needed');
  });
});

describe('what Slack says about a user', () => {
  it.each([
    ['a bot', { isBot: true }, undefined],
    ['a deactivated user', { isDeactivated: true }, undefined],
    ['a stranger', { isStranger: true }, undefined],
    ['a guest', { isGuest: true }, 'operator'],
  ] as const)('leaves %s no role of admins, groups or channels', async (_who, trait, own) => {
    await grant('S1', 'viewer', { subjectKind: 'group' });
    await grant('C1', 'viewer', { subjectKind: 'channel' });
    groups.set('S1', ['UANN']);
    for (const user of ['UADMIN', 'UANN', 'UOPERATOR'])
      users.set(user, { ...MEMBER, isAdmin: user === 'UADMIN', ...trait });
    expect([await roleOf('UADMIN'), await roleOf('UANN')]).toEqual([undefined, undefined]);
    expect(await roleOf('UOPERATOR')).toBe(own);
  });

  it('is looked up only when the stored roles are not enough', async () => {
    await entry.execute(useCase('operator'), 'x', caller('UMANAGER'));
    expect(lookedUp).toEqual([]);
    await expect(entry.execute(useCase('owner'), 'x', caller('UMANAGER'))).rejects.toThrow();
    expect(lookedUp).toEqual(['UMANAGER']);
  });

  it('refuses the user when it can’t be looked up, without claiming that a role is missing', async () => {
    isSlackDown = true;
    for (const userId of ['UADMIN', 'UNORA', 'UMANAGER']) {
      expect(await attempt(useCase('owner'), caller(userId))).toBe('identity_unknown');
      await expect(entry.authorize(useCase('owner'), caller(userId))).rejects.toMatchObject({
        code: 'identity_unknown',
      });
    }
    expect(new Set((await outcomes()).map((outcome) => outcome.join(' ')))).toEqual(
      new Set(['denied identity_unknown']),
    );
    expect(runs).toBe(0);
    expect(await entry.execute(useCase('manager'), 'x', caller('UMANAGER'))).toBe('x');
  });

  it.each([
    ['the app lacks the scope to read it', 'hidden'],
    ['Slack knows no such user', 'no'],
  ] as const)('means a missing role when %s', async (_words, exists) => {
    const silent: Users = { find: async () => undefined, exists: async () => exists };
    await grant('C1', 'manager', { subjectKind: 'channel' });
    const ports = portsWith({ users: silent });
    const silentEntry = createEntry(ports);
    expect(await attempt(useCase('viewer'), caller('UNORA'), silentEntry)).toBe('role_needed');
    const actor = { workspaceId: 'T1', userId: 'UNORA', channelId: 'C1' };
    expect(await hasRole(actor, 'viewer', 'web-1', ports)).toBe(false);
  });

  it('allows nothing when looking it up fails', async () => {
    const broken: Users = {
      find: () => Promise.reject(new Error('socket hang up')),
      exists: async () => 'unknown',
    };
    const brokenEntry = createEntry(portsWith({ users: broken }));
    await expect(brokenEntry.execute(useCase('viewer'), 'x', caller('UADMIN'))).rejects.toThrow(
      'socket hang up',
    );
    expect(runs).toBe(0);
    expect(await outcomes()).toEqual([['denied', 'defect']]);
  });
});

describe('a role granted to a user group', () => {
  beforeEach(() => grant('S1', 'operator', { subjectKind: 'group' }));

  it('allows nothing, like one granted to a channel, while Slack can’t say who is in the group or a guest', async () => {
    expect(await roleOf('UANN')).toBeUndefined();
    groups.set('S1', ['UANN']);
    await grant('C1', 'viewer', { subjectKind: 'channel' });
    isSlackDown = true;
    expect(await roleOf('UANN')).toBeUndefined();
  });

  it('is reported as unknown while Slack can’t say who is in the group, if it would be enough', async () => {
    const tryTo = (needs: Role) => attempt(useCase(needs), caller('UANN'));
    expect(await tryTo('operator')).toBe('identity_unknown');
    expect(await tryTo('manager')).toBe('role_needed');
    groups.set('S1', []);
    expect(await tryTo('operator')).toBe('role_needed');
    groups.delete('S1');
    users.set('UANN', { ...MEMBER, isGuest: true });
    expect(await tryTo('operator')).toBe('role_needed');
    expect(runs).toBe(0);
  });
});

describe('a role for some servers', () => {
  const touch = (label: string, needs: Role = 'operator') =>
    act(
      async (_input, context) => {
        await context.requireRoleFor(label);
        return context.covers(label);
      },
      needs,
      'reads',
    );

  it('passes the check before a form, and then covers only those servers', async () => {
    await grant('UANN', 'operator', { pattern: 'web-*' });
    expect(await entry.execute(touch('web-1'), '', caller('UANN'))).toBe(true);
    await expect(entry.execute(touch('db-1'), '', caller('UANN'))).rejects.toMatchObject({
      code: 'role_needed',
      details: { needed: 'operator', held: 'operator', label: 'db-1', owners: ['UNAMED', 'UOWNER'] },
    });
    expect(await outcomes()).toEqual([['denied', 'role_needed']]);
  });

  it('is the highest one whose pattern matches the server', async () => {
    await grant('UANN', 'viewer');
    await grant('UANN', 'manager', { pattern: '*-test' });
    expect(await entry.execute(touch('web-test', 'manager'), '', caller('UANN'))).toBe(true);
    expect(await entry.execute(touch('web-1', 'viewer'), '', caller('UANN'))).toBe(true);
    await expect(entry.execute(touch('web-1', 'operator'), '', caller('UANN'))).rejects.toMatchObject({
      details: { held: 'manager', label: 'web-1' },
    });
  });

  it('is reported as unknown for other servers while a group’s role for them can’t be looked up', async () => {
    await grant('UANN', 'operator', { pattern: 'web-*' });
    await grant('S1', 'operator', { subjectKind: 'group', pattern: 'db-*' });
    expect(await entry.execute(touch('web-1'), '', caller('UANN'))).toBe(true);
    expect(await attempt(touch('db-1'), caller('UANN'))).toBe('identity_unknown');
    expect(await attempt(touch('mail-1'), caller('UANN'))).toBe('role_needed');
    expect(await outcomes()).toEqual([
      ['denied', 'identity_unknown'],
      ['denied', 'role_needed'],
    ]);
  });
});

it('Enterprise Grid refuses users from its other workspaces while Slack can’t say who they are', async () => {
  await grant('WANN', 'operator');
  isSlackDown = true;
  expect(await attempt(useCase('anyone'), caller('WANN', { homeTeamId: 'T2' }))).toBe('other_organization');
  expect(await entry.execute(useCase('operator'), 'x', caller('WANN', { homeTeamId: 'T1' }))).toBe('x');
});

describe('a caller that has to be notified before changes', () => {
  const knowing = (onChange: NonNullable<Caller['onChange']>) => ({ ...caller('UOPERATOR'), onChange });

  it('is notified before anything is changed, and not of actions that only read', async () => {
    const heard: number[] = [];
    const onChange = async () => {
      heard.push(runs);
    };
    await entry.execute(useCase('operator'), 'x', knowing(onChange));
    expect(heard).toEqual([]);
    await entry.execute(useCase('operator', 'changes'), 'x', knowing(onChange));
    expect([heard, runs]).toEqual([[1], 2]);
  });

  it('can prevent the change, which is audited', async () => {
    const refuse = async () => {
      throw new Refusal('shutting_down', {});
    };
    for (const effect of ['changes', 'confirms'] as const) {
      const running = entry.execute(useCase('operator', effect), 'x', knowing(refuse));
      await expect(running).rejects.toMatchObject({ code: 'shutting_down' });
    }
    expect(runs).toBe(0);
    expect(await outcomes()).toEqual([
      ['denied', 'shutting_down'],
      ['denied', 'shutting_down'],
    ]);
  });
});

it('a signed request is not used up by a user without the role', async () => {
  const action = useCase('operator', 'changes');
  expect(await attempt(action, caller('UNORA', {}, 's'))).toBe('role_needed');
  expect(await entry.execute(action, 'x', caller('UOPERATOR', {}, 's'))).toBe('x');
});

describe('the audit', () => {
  it('says who did what, to what, where, and that it was done', async () => {
    const action = defineUseCase({
      name: 'reboot',
      needs: 'operator',
      effect: 'changes',
      subject: (input: { typed: string }) => ({ label: input.typed }),
      run: async (_input: { typed: string }, context) => context.setSubject({ serverId: 42, label: 'web-1' }),
    });
    await entry.execute(action, { typed: 'web' }, caller('UOPERATOR'));
    const [started, done] = await audited();
    const same = { at: T0, workspaceId: 'T1', actorId: 'UOPERATOR', channelId: 'C1', surface: 'command' };
    expect(started).toMatchObject({ ...same, action: 'reboot', outcome: 'started', label: 'web' });
    expect(done).toMatchObject({ ...same, action: 'reboot', outcome: 'done', serverId: 42, label: 'web-1' });
    expect(done?.actId).toBe(started?.actId);
  });

  it('has the start of a change before the change begins', async () => {
    const before = await entry.execute(act(outcomes), 'x', caller('UOPERATOR'));
    expect(before).toEqual([['started', undefined]]);
  });

  it('has no entry for reads, except denied ones', async () => {
    await entry.execute(useCase('viewer'), 'x', caller('UVIEWER'));
    await entry.authorize(useCase('viewer', 'changes'), caller('UVIEWER'));
    expect(await audited()).toEqual([]);
    await expect(entry.execute(useCase('viewer'), 'x', caller('UNORA'))).rejects.toThrow();
    await expect(entry.authorize(useCase('owner'), caller('UVIEWER'))).rejects.toThrow();
    expect(await outcomes()).toEqual([
      ['denied', 'role_needed'],
      ['denied', 'role_needed'],
    ]);
  });

  it('leaves confirmations to the ledger, and says when one failed', async () => {
    await entry.execute(useCase('manager', 'confirms'), 'x', caller('UMANAGER', {}, 's'));
    await entry.execute(useCase('manager', 'confirms'), 'x', caller('UMANAGER', {}, 's'));
    expect(await audited()).toEqual([]);
    expect(runs).toBe(2);
    await expect(failWith(new Refusal('other_workspace', {}), 'confirms')).rejects.toThrow();
    expect(await outcomes()).toEqual([['failed', 'other_workspace']]);
  });

  it.each([
    ['a refusal', new Refusal('unknown_server', { typed: 'x' }), 'failed', 'unknown_server'],
    ['an API error', new HostingError('wrong_state', 'no'), 'failed', 'wrong_state'],
    ['a defect, without its message', new TypeError('secret in a message'), 'failed', 'defect'],
    ['a user who isn’t the creator', new Refusal('not_creator', { label: 'x' }), 'denied', 'not_creator'],
  ] as const)('says that it failed because of %s', async (_why, error, outcome, code) => {
    await expect(failWith(error, 'changes')).rejects.toBe(error);
    expect(await outcomes()).toEqual([
      ['started', undefined],
      [outcome, code],
    ]);
    expect(JSON.stringify(await audited())).not.toContain('secret in a message');
  });

  it('says so when the outcome is unknown', async () => {
    const action = act(async (_input, context) => context.setUnconfirmed('no_answer'));
    await entry.execute(action, 'x', caller('UOPERATOR'));
    expect(await outcomes()).toEqual([
      ['started', undefined],
      ['in_doubt', 'no_answer'],
    ]);
  });

  function failWith(error: Error, effect: Effect): Promise<unknown> {
    const action = act(() => Promise.reject(error), 'manager', effect);
    return entry.execute(action, 'x', caller('UMANAGER'));
  }
});

it('an order may go through while the store is away, whether it was permitted or not', async () => {
  const away = () => Promise.reject(new DatabaseUnreachable(new Error('the network')));
  const order = { ...useCase('manager', 'confirms'), isOrder: true, run: away };
  const unsaved = { code: 'order_unsaved' };
  await expect(entry.execute(order, 'x', caller('UMANAGER'))).rejects.toMatchObject(unsaved);
  const unpermitted = createEntry(portsWith({ grants: { ...store.grants, listFor: away, list: away } }));
  await expect(unpermitted.execute(order, 'x', caller('UMANAGER'))).rejects.toMatchObject(unsaved);
  await expect(unpermitted.authorize(order, caller('UMANAGER'))).rejects.toMatchObject(unsaved);
});

it('the hosting account stays the same throughout one act, even if another one is connected in between', async () => {
  await store.apiKeys.put('T1', new Secret('key-1'), 'UOWNER', T0);
  const opened: string[] = [];
  const hostingOf: AppContext['hostingOf'] = (key) => {
    opened.push(key.reveal());
    return {} as ReturnType<AppContext['hostingOf']>;
  };
  const twice = act(async (_input, context) => {
    const first = await context.hosting();
    await store.apiKeys.put('T1', new Secret('key-2'), 'UOWNER', T0 + 1);
    return first === (await context.hosting());
  });
  const freshEntry = createEntry(portsWith({ hostingOf }));
  expect(await freshEntry.execute(twice, 'x', caller('UOPERATOR'))).toBe(true);
  await freshEntry.execute(twice, 'x', caller('UOPERATOR'));
  expect(opened).toEqual(['key-1', 'key-2']);
});
