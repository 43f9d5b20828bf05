import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NewGrant } from '../../../src/app/access/grants-port.ts';
import { createEntry, type Entry, type EntryPorts } from '../../../src/app/authorize/entry.ts';
import type { SlackUser, Users } from '../../../src/app/authorize/ports.ts';
import { type Caller, type UseCase, useCasesOver } from '../../../src/app/authorize/use-case.ts';
import type { Store } from '../../../src/app/ports.ts';
import { strongestRole } from '../../../src/domain/access.ts';
import { ROLES, type Role } from '../../../src/domain/actor.ts';
import type { AuditEntry } from '../../../src/domain/audit-entry.ts';
import { HostingError, Refusal } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { silentLog } from '../../../src/log.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { stillSystem, T0, vault } from '../../store/fixtures.ts';

const defineUseCase = useCasesOver<EntryPorts>();

const MEMBER: SlackUser = {
  isAdmin: false,
  isGuest: false,
  isBot: false,
  isDeactivated: false,
  isStranger: false,
  teamIds: ['T1'],
};

let store: Store;
let people: Map<string, SlackUser>;
let asked: string[];
/** Members by user group; a group that is not in it can't be looked up. */
let groups: Map<string, readonly string[]>;
let now: number;
let isSlackDown: boolean;
let entry: Entry<EntryPorts>;
/** How often a use case ran. */
let runs: number;

beforeEach(async () => {
  store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system: stillSystem });
  await store.workspaces.put({ id: 'T1', name: 'Team' }, T0);
  people = new Map([['UADMIN', { ...MEMBER, isAdmin: true }]]);
  asked = [];
  groups = new Map();
  now = T0;
  isSlackDown = false;
  runs = 0;
  entry = createEntry(portsWith());
  for (const role of ROLES) await give(`U${role.toUpperCase()}`, role);
});

afterEach(async () => {
  await store.close();
});

function portsWith(more: Partial<EntryPorts> = {}): EntryPorts {
  const fakePeople: Users = {
    find: async (_workspaceId, userId) => {
      asked.push(userId);
      return isSlackDown ? undefined : (people.get(userId) ?? MEMBER);
    },
    exists: async () => 'unknown',
  };
  return {
    ...store,
    system: { ...stillSystem, now: () => now },
    log: silentLog,
    installations: { isServed: async (id) => (await store.workspaces.find(id)) !== undefined },
    users: fakePeople,
    groups: {
      list: async () => undefined,
      listMembers: async (_workspaceId, groupId) => (isSlackDown ? undefined : groups.get(groupId)),
    },
    hostingOf: () => {
      throw new Error('no hosting API in these tests');
    },
    ownersOf: () => ['UNAMED'],
    ...more,
  };
}

async function give(subjectId: string, role: Role, more: Partial<NewGrant> = {}): Promise<void> {
  await store.grants.put({
    workspaceId: 'T1',
    subjectKind: 'user',
    subjectId,
    role,
    pattern: '',
    grantedBy: 'UOWNER',
    grantedAt: T0,
    ...more,
  });
}

const roleOf = async (userId: string, more: Partial<Caller['actor']> = {}) =>
  strongestRole(await entry.findRoles({ workspaceId: 'T1', userId, channelId: 'C1', ...more }));

function caller(userId: string, more: Partial<Caller['actor']> = {}, requestId?: string): Caller {
  const actor = { workspaceId: 'T1', userId, channelId: 'C1', ...more };
  return { actor, surface: 'command', ...(requestId === undefined ? {} : { requestId }) };
}

function useCase(needs: Role | 'anyone', effect: UseCase<string, string, EntryPorts>['effect'] = 'reads') {
  return defineUseCase({
    name: 'action',
    needs,
    effect,
    run: async (input: string) => {
      runs += 1;
      return input;
    },
  });
}

async function audited(): Promise<readonly AuditEntry[]> {
  return [...(await store.audit.list({ workspaceId: 'T1', limit: 100 }))].reverse();
}

const outcomes = async () => (await audited()).map(({ outcome, code }) => [outcome, code]);

describe('the door', () => {
  it('lets nobody in by default', async () => {
    for (const needs of ROLES) {
      await expect(entry.execute(useCase(needs), 'x', caller('USOMEBODY'))).rejects.toMatchObject({
        code: 'role_needed',
        details: { needed: needs },
      });
    }
    expect(runs).toBe(0);
    expect(await roleOf('USOMEBODY')).toBeUndefined();
  });

  it.each(ROLES)('lets a %s do what the role covers, and nothing more', async (held) => {
    for (const needs of ROLES) {
      const entering = entry.execute(useCase(needs), 'x', caller(`U${held.toUpperCase()}`));
      if (ROLES.indexOf(held) >= ROLES.indexOf(needs)) expect(await entering).toBe('x');
      else await expect(entering).rejects.toMatchObject({ details: { needed: needs, held } });
    }
  });

  it('opens to everybody of the workspace for what takes no role', async () => {
    expect(await entry.execute(useCase('anyone'), 'x', caller('USOMEBODY'))).toBe('x');
    expect(asked).toEqual([]);
  });

  it('lets the owners in whom the operator named, whatever Slack says', async () => {
    isSlackDown = true;
    expect(await entry.execute(useCase('owner'), 'x', caller('UNAMED'))).toBe('x');
  });

  it('closes at once when a role is taken away', async () => {
    await entry.execute(useCase('operator'), 'x', caller('UOPERATOR'));
    await store.grants.removeAll('T1', { subjectKind: 'user', subjectId: 'UOPERATOR' });
    await expect(entry.execute(useCase('operator'), 'x', caller('UOPERATOR'))).rejects.toMatchObject({
      code: 'role_needed',
    });
  });

  it('does not know roles of another workspace', async () => {
    await store.workspaces.put({ id: 'T2', name: 'Others' }, T0);
    const elsewhere = caller('UOWNER', { workspaceId: 'T2' });
    await expect(entry.execute(useCase('viewer'), 'x', elsewhere)).rejects.toMatchObject({
      code: 'role_needed',
    });
  });
});

describe('somebody of another organisation', () => {
  it.each([
    'anyone',
    'viewer',
    'owner',
  ] as const)('is refused what takes %s, even with a role', async (needs) => {
    people.set('UOWNER', { ...MEMBER, teamIds: ['T9'] });
    const stranger = caller('UOWNER', { homeTeamId: 'T9' });
    await expect(entry.execute(useCase(needs), 'x', stranger)).rejects.toMatchObject({
      code: 'other_organisation',
    });
    await expect(entry.authorize(useCase(needs), stranger)).rejects.toMatchObject({
      code: 'other_organisation',
    });
    expect(await entry.findRoles(stranger.actor)).toEqual([]);
    expect(await outcomes()).toEqual([
      ['denied', 'other_organisation'],
      ['denied', 'other_organisation'],
    ]);
  });

  it('has no role when it is Slack that says so', async () => {
    people.set('UADMIN', { ...MEMBER, isAdmin: true, teamIds: ['T9'] });
    await expect(entry.execute(useCase('viewer'), 'x', caller('UADMIN'))).rejects.toMatchObject({
      code: 'role_needed',
    });
  });
});

describe('a workspace that the app is not set up for', () => {
  it('gets nothing, not even for the owners that the operator named', async () => {
    for (const needs of ['anyone', 'owner'] as const) {
      await expect(
        entry.execute(useCase(needs), 'x', caller('UNAMED', { workspaceId: 'T404' })),
      ).rejects.toMatchObject({
        code: 'other_workspace',
      });
    }
    expect(runs).toBe(0);
  });
});

describe('Slack’s word on a person', () => {
  it('makes workspace admins owners', async () => {
    expect(await entry.execute(useCase('owner'), 'x', caller('UADMIN'))).toBe('x');
    expect(await roleOf('UADMIN')).toBe('owner');
  });

  it('is stronger than a weak grant, and never weakens a strong one', async () => {
    await give('UADMIN', 'viewer');
    expect(await entry.execute(useCase('owner'), 'x', caller('UADMIN'))).toBe('x');
    expect(await roleOf('UMANAGER')).toBe('manager');
  });

  it.each([
    ['a bot', { isBot: true }],
    ['somebody who was deactivated', { isDeactivated: true }],
    ['a guest', { isGuest: true }],
  ])('makes no owner of %s', async (_who, trait) => {
    people.set('UADMIN', { ...MEMBER, isAdmin: true, ...trait });
    await expect(entry.execute(useCase('viewer'), 'x', caller('UADMIN'))).rejects.toMatchObject({
      code: 'role_needed',
    });
  });

  it('takes every role from bots and from those who were deactivated', async () => {
    for (const trait of [{ isBot: true }, { isDeactivated: true }]) {
      people.set('UMANAGER', { ...MEMBER, ...trait });
      expect(await roleOf('UMANAGER')).toBeUndefined();
    }
  });

  it('leaves guests the role that they were given by name', async () => {
    people.set('UOPERATOR', { ...MEMBER, isGuest: true });
    expect(await roleOf('UOPERATOR')).toBe('operator');
  });

  it('is asked for only when what is known here does not suffice', async () => {
    await entry.execute(useCase('operator'), 'x', caller('UMANAGER'));
    expect(asked).toEqual([]);
    await expect(entry.execute(useCase('owner'), 'x', caller('UMANAGER'))).rejects.toThrow();
    expect(asked).toEqual(['UMANAGER']);
  });

  it('is not asked for by a knock of whoever may do it to some server', async () => {
    await give('UANN', 'operator', { pattern: 'web-*' });
    await entry.authorize(useCase('operator'), caller('UANN'));
    expect(asked).toEqual([]);
    await entry.execute(useCase('operator'), 'x', caller('UANN'));
    expect(asked).toEqual(['UANN']);
  });

  it('counts as no when it does not come, and is not told as a lack of a role', async () => {
    isSlackDown = true;
    for (const userId of ['UADMIN', 'USOMEBODY', 'UMANAGER']) {
      await expect(entry.execute(useCase('owner'), 'x', caller(userId))).rejects.toMatchObject({
        code: 'identity_unknown',
      });
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
    ['that the app may not ask for it', 'hidden'],
    ['that there is no such person', 'no'],
  ] as const)('is a no when it is %s', async (_words, exists) => {
    const silent: Users = { find: async () => undefined, exists: async () => exists };
    await give('C1', 'manager', { subjectKind: 'channel' });
    const silentDoor = createEntry(portsWith({ users: silent }));
    await expect(silentDoor.execute(useCase('viewer'), 'x', caller('USOMEBODY'))).rejects.toMatchObject({
      code: 'role_needed',
    });
    const asked = { workspaceId: 'T1', userId: 'USOMEBODY', channelId: 'C1' };
    expect(await silentDoor.hasRole(asked, 'viewer', 'web-1')).toBe(false);
  });

  it('lets nobody in when asking for it breaks', async () => {
    const broken: Users = {
      find: () => Promise.reject(new Error('socket hang up')),
      exists: async () => 'unknown',
    };
    const brokenDoor = createEntry(portsWith({ users: broken }));
    await expect(brokenDoor.execute(useCase('viewer'), 'x', caller('UADMIN'))).rejects.toThrow(
      'socket hang up',
    );
    expect(runs).toBe(0);
    expect(await outcomes()).toEqual([['denied', 'defect']]);
  });
});

describe('a role given to a user group', () => {
  beforeEach(() => give('S1', 'operator', { subjectKind: 'group' }));

  it('is its members’, for as long as they are in it', async () => {
    groups.set('S1', ['UANN']);
    expect(await roleOf('UANN')).toBe('operator');
    expect(await roleOf('UBOB')).toBeUndefined();
    groups.set('S1', []);
    expect(await roleOf('UANN')).toBeUndefined();
  });

  it('opens nothing when Slack can’t say who is in it', async () => {
    expect(await roleOf('UANN')).toBeUndefined();
    groups.set('S1', ['UANN']);
    isSlackDown = true;
    expect(await roleOf('UANN')).toBeUndefined();
  });

  it('is told as unknown while Slack can’t say who is in it, but only where it would suffice', async () => {
    const tryTo = (needs: Role) => entry.execute(useCase(needs), 'x', caller('UANN'));
    await expect(tryTo('operator')).rejects.toMatchObject({ code: 'identity_unknown' });
    await expect(tryTo('manager')).rejects.toMatchObject({ code: 'role_needed' });
    groups.set('S1', []);
    await expect(tryTo('operator')).rejects.toMatchObject({ code: 'role_needed' });
    groups.delete('S1');
    people.set('UANN', { ...MEMBER, isGuest: true });
    await expect(tryTo('operator')).rejects.toMatchObject({ code: 'role_needed' });
    expect(runs).toBe(0);
  });

  it('is waited for rather than missed where something is done in somebody’s name', async () => {
    const ann = { workspaceId: 'T1', userId: 'UANN', channelId: 'C1' };
    const isOperator = () => entry.hasRole(ann, 'operator', 'web-1');
    await expect(isOperator()).rejects.toMatchObject({
      code: 'identity_unknown',
      details: { userId: 'UANN' },
    });
    groups.set('S1', ['UANN']);
    expect(await isOperator()).toBe(true);
    expect(await entry.hasRole(ann, 'manager', 'web-1')).toBe(false);
    groups.set('S1', []);
    expect(await isOperator()).toBe(false);
  });

  it('is nothing for guests, bots and those who were deactivated, even when they are in it', async () => {
    groups.set('S1', ['UANN']);
    for (const trait of [{ isGuest: true }, { isBot: true }, { isDeactivated: true }, { isStranger: true }]) {
      people.set('UANN', { ...MEMBER, ...trait });
      expect(await roleOf('UANN')).toBeUndefined();
    }
  });

  it('counts when it is stronger than one’s own', async () => {
    groups.set('S1', ['UVIEWER', 'UMANAGER']);
    expect(await roleOf('UVIEWER')).toBe('operator');
    expect(await roleOf('UMANAGER')).toBe('manager');
    expect(await entry.execute(useCase('operator'), 'x', caller('UVIEWER'))).toBe('x');
  });
});

describe('a role given to a channel', () => {
  beforeEach(() => give('C1', 'viewer', { subjectKind: 'channel' }));

  it('is whoever’s is a full member and acts there', async () => {
    expect(await roleOf('UANN')).toBe('viewer');
    expect(await roleOf('UANN', { channelId: 'C2' })).toBeUndefined();
    expect(strongestRole(await entry.findRoles({ workspaceId: 'T1', userId: 'UANN' }))).toBeUndefined();
  });

  it('is nothing for guests, and for anybody while Slack can’t say who is one', async () => {
    people.set('UANN', { ...MEMBER, isGuest: true });
    expect(await roleOf('UANN')).toBeUndefined();
    isSlackDown = true;
    expect(await roleOf('UBOB')).toBeUndefined();
  });
});

describe('a role for a time', () => {
  it('ends by itself, to the millisecond, and leaves the one for good', async () => {
    await give('UVIEWER', 'manager', { until: T0 + 1000 });
    now = T0 + 999;
    expect(await roleOf('UVIEWER')).toBe('manager');
    now = T0 + 1000;
    expect(await roleOf('UVIEWER')).toBe('viewer');
  });
});

describe('a role for some servers', () => {
  const touch = (label: string, needs: Role = 'operator') =>
    defineUseCase({
      name: 'action',
      needs,
      effect: 'reads',
      run: async (_input: string, context) => {
        await context.requireRoleFor(label);
        return context.covers(label);
      },
    });

  it('opens the entry, and then only to them', async () => {
    await give('UANN', 'operator', { pattern: 'web-*' });
    expect(await entry.execute(touch('web-1'), '', caller('UANN'))).toBe(true);
    await expect(entry.execute(touch('db-1'), '', caller('UANN'))).rejects.toMatchObject({
      code: 'role_needed',
      details: { needed: 'operator', held: 'operator', label: 'db-1', owners: ['UNAMED', 'UOWNER'] },
    });
    expect(await outcomes()).toEqual([['denied', 'role_needed']]);
  });

  it('is the strongest that fits the server', async () => {
    await give('UANN', 'viewer');
    await give('UANN', 'manager', { pattern: '*-test' });
    expect(await entry.execute(touch('web-test', 'manager'), '', caller('UANN'))).toBe(true);
    expect(await entry.execute(touch('web-1', 'viewer'), '', caller('UANN'))).toBe(true);
    await expect(entry.execute(touch('web-1', 'operator'), '', caller('UANN'))).rejects.toMatchObject({
      details: { held: 'manager', label: 'web-1' },
    });
  });

  it('is told as unknown for others while a group’s role for those can’t be looked up', async () => {
    await give('UANN', 'operator', { pattern: 'web-*' });
    await give('S1', 'operator', { subjectKind: 'group', pattern: 'db-*' });
    expect(await entry.execute(touch('web-1'), '', caller('UANN'))).toBe(true);
    await expect(entry.execute(touch('db-1'), '', caller('UANN'))).rejects.toMatchObject({
      code: 'identity_unknown',
    });
    await expect(entry.execute(touch('mail-1'), '', caller('UANN'))).rejects.toMatchObject({
      code: 'role_needed',
    });
    expect(await outcomes()).toEqual([
      ['denied', 'identity_unknown'],
      ['denied', 'role_needed'],
    ]);
  });

  it('is widened by a group’s role for all of them', async () => {
    await give('UANN', 'operator', { pattern: 'web-*' });
    await give('S1', 'operator', { subjectKind: 'group' });
    groups.set('S1', ['UANN']);
    expect(await entry.execute(touch('db-1'), '', caller('UANN'))).toBe(true);
  });
});

describe('Enterprise Grid', () => {
  it('lets in a member who is at home in another workspace of it, and nobody else from there', async () => {
    await give('WANN', 'operator');
    people.set('WANN', { ...MEMBER, teamIds: ['T2', 'T1'] });
    expect(await entry.execute(useCase('operator'), 'x', caller('WANN', { homeTeamId: 'T2' }))).toBe('x');
    people.set('WANN', { ...MEMBER, teamIds: ['T2'] });
    await expect(
      entry.execute(useCase('operator'), 'x', caller('WANN', { homeTeamId: 'T2' })),
    ).rejects.toMatchObject({ code: 'other_organisation' });
  });

  it('lets nobody in from elsewhere while Slack can’t say who they are', async () => {
    await give('WANN', 'operator');
    isSlackDown = true;
    await expect(
      entry.execute(useCase('anyone'), 'x', caller('WANN', { homeTeamId: 'T2' })),
    ).rejects.toMatchObject({ code: 'other_organisation' });
    expect(await entry.execute(useCase('operator'), 'x', caller('WANN', { homeTeamId: 'T1' }))).toBe('x');
  });
});

describe('the same signed request', () => {
  it('changes something once', async () => {
    const again = () =>
      entry.execute(useCase('operator', 'changes'), 'x', caller('UOPERATOR', {}, 'signature-1'));
    await again();
    await expect(again()).rejects.toMatchObject({ code: 'already_handled' });
    expect(runs).toBe(1);
    expect(await outcomes()).toEqual([
      ['started', undefined],
      ['done', undefined],
      ['denied', 'already_handled'],
    ]);
  });

  it('changes something once when it comes twice at the same time', async () => {
    const again = () =>
      entry.execute(useCase('operator', 'changes'), 'x', caller('UOPERATOR', {}, 'signature-1'));
    const ended = await Promise.allSettled([again(), again(), again()]);
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(runs).toBe(1);
  });

  it('may read as often as it comes', async () => {
    for (let time = 0; time < 3; time++)
      await entry.execute(useCase('viewer'), 'x', caller('UVIEWER', {}, 's'));
    expect(runs).toBe(3);
  });

  it('leaves the first place to whoever may use it', async () => {
    const action = useCase('operator', 'changes');
    await expect(entry.execute(action, 'x', caller('USOMEBODY', {}, 's'))).rejects.toMatchObject({
      code: 'role_needed',
    });
    expect(await entry.execute(action, 'x', caller('UOPERATOR', {}, 's'))).toBe('x');
  });

  it('is not looked for where nothing can be replayed', async () => {
    const action = useCase('operator', 'changes');
    for (let time = 0; time < 2; time++) await entry.execute(action, 'x', caller('UOPERATOR'));
    expect(runs).toBe(2);
  });
});

describe('the audit', () => {
  it('says who did what, where, about what, and that it is done', async () => {
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

  it('has the start of a change before the change is begun', async () => {
    let before: unknown;
    const action = defineUseCase({
      name: 'stop',
      needs: 'operator',
      effect: 'changes',
      run: async () => {
        before = await outcomes();
      },
    });
    await entry.execute(action, {}, caller('UOPERATOR'));
    expect(before).toEqual([['started', undefined]]);
  });

  it('has nothing of reading, refusals aside', async () => {
    await entry.execute(useCase('viewer'), 'x', caller('UVIEWER'));
    await entry.authorize(useCase('viewer', 'changes'), caller('UVIEWER'));
    expect(await audited()).toEqual([]);
    await expect(entry.execute(useCase('viewer'), 'x', caller('USOMEBODY'))).rejects.toThrow();
    await expect(entry.authorize(useCase('owner'), caller('UVIEWER'))).rejects.toThrow();
    expect(await outcomes()).toEqual([
      ['denied', 'role_needed'],
      ['denied', 'role_needed'],
    ]);
  });

  it('leaves a confirmation to the ledger, and notes when it failed', async () => {
    await entry.execute(useCase('manager', 'confirms'), 'x', caller('UMANAGER', {}, 's'));
    await entry.execute(useCase('manager', 'confirms'), 'x', caller('UMANAGER', {}, 's'));
    expect(await audited()).toEqual([]);
    expect(runs).toBe(2);
    await expect(failWith(new Refusal('other_workspace', {}), 'confirms')).rejects.toThrow();
    expect(await outcomes()).toEqual([['failed', 'other_workspace']]);
  });

  it.each([
    ['a refusal', new Refusal('unknown_server', { typed: 'x' }), 'failed', 'unknown_server'],
    ['an error of the API', new HostingError('wrong_state', 'no'), 'failed', 'wrong_state'],
    ['a defect, without its words', new TypeError('secret in a message'), 'failed', 'defect'],
    ['being somebody else', new Refusal('not_creator', { label: 'x' }), 'denied', 'not_creator'],
  ] as const)('says that it failed by %s', async (_why, error, outcome, code) => {
    await expect(failWith(error, 'changes')).rejects.toBe(error);
    expect(await outcomes()).toEqual([
      ['started', undefined],
      [outcome, code],
    ]);
    expect(JSON.stringify(await audited())).not.toContain('secret in a message');
  });

  it('says that nobody knows, where nobody does', async () => {
    const action = defineUseCase({
      name: 'reboot',
      needs: 'operator',
      effect: 'changes',
      run: async (_input: string, context) => context.setUnconfirmed('no_answer'),
    });
    await entry.execute(action, 'x', caller('UOPERATOR'));
    expect(await outcomes()).toEqual([
      ['started', undefined],
      ['in_doubt', 'no_answer'],
    ]);
  });

  function failWith(error: Error, effect: 'changes' | 'confirms'): Promise<unknown> {
    const action = defineUseCase({
      name: 'action',
      needs: 'manager',
      effect,
      run: async () => {
        throw error;
      },
    });
    return entry.execute(action, {}, caller('UMANAGER'));
  }
});

describe('the hosting account', () => {
  const ask = defineUseCase({
    name: 'list',
    needs: 'viewer',
    effect: 'reads',
    run: async (_input: string, context) => context.hosting(),
  });

  it('is refused in words while the workspace has none', async () => {
    await expect(entry.execute(ask, 'x', caller('UVIEWER'))).rejects.toMatchObject({ code: 'no_api_key' });
  });

  it('is the same for all of one act, also when another is connected meanwhile', async () => {
    await store.apiKeys.put('T1', new Secret('key-1'), 'UOWNER', T0);
    const opened: string[] = [];
    const hostingOf: EntryPorts['hostingOf'] = (key) => {
      opened.push(key.reveal());
      return {} as ReturnType<EntryPorts['hostingOf']>;
    };
    const twice = defineUseCase({
      name: 'delete',
      needs: 'viewer',
      effect: 'reads',
      run: async (_input: string, context) => {
        const first = await context.hosting();
        await store.apiKeys.put('T1', new Secret('key-2'), 'UOWNER', T0 + 1);
        return first === (await context.hosting());
      },
    });
    const thatDoor = createEntry(portsWith({ hostingOf }));
    expect(await thatDoor.execute(twice, 'x', caller('UVIEWER'))).toBe(true);
    await thatDoor.execute(ask, 'x', caller('UVIEWER'));
    expect(opened).toEqual(['key-1', 'key-2']);
  });

  it('is the one of the workspace', async () => {
    await store.workspaces.put({ id: 'T2', name: 'Others' }, T0);
    await store.apiKeys.put('T1', new Secret('key-1'), 'UOWNER', T0);
    await store.apiKeys.put('T2', new Secret('key-2'), 'UOWNER', T0);
    const opened: string[] = [];
    const hostingOf: EntryPorts['hostingOf'] = (key) => {
      opened.push(key.reveal());
      return {} as ReturnType<EntryPorts['hostingOf']>;
    };
    await createEntry(portsWith({ hostingOf })).execute(ask, 'x', caller('UVIEWER'));
    expect(opened).toEqual(['key-1']);
  });
});
