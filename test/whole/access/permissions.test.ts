import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { NewGrant } from '../../../src/access/grants.ts';
import { commands } from '../../../src/commands.ts';
import { ROLES, type Role, roleCovers } from '../../../src/core/roles.ts';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import { home } from '../../../src/home/home.ts';
import { panel } from '../../../src/home/panel.ts';
import type { Delivery } from '../../../src/sandbox/slack/deliver.ts';
import { OTHER_BOT, TEAM, USERS, type UserName } from '../../../src/sandbox/slack/workspace.ts';
import { shortcuts } from '../../../src/servers/shortcuts.ts';
import type { Command } from '../../../src/slack/kit/command.ts';
import { isLong } from '../../attacks/support/tries.ts';
import { until } from '../../support/eventually.ts';
import { changesSeen, envelope, type RawUser, rawUser } from '../../support/raw-user.ts';
import { startTeam, type Team } from '../../support/team.ts';

/** One way to ask for something, the role that it needs, and its name in the audit. */
interface Action {
  readonly via: 'command' | 'action' | 'modal' | 'menu' | 'shortcut';
  /** The subcommand, the action, the modal, or the menu that is typed into. */
  readonly id: string;
  readonly needs: Role | 'anyone';
  readonly audit: string;
  send(by: RawUser, serverId: number): Promise<Delivery>;
}

const ORDER = { plan: 'micro', location: 'ams', image: 'debian-13', label: 'web-new' };
const PRICE = 290;

const typed = (text: string, needs: Action['needs'], audit: string): Action => ({
  via: 'command',
  id: text.split(' ')[0] ?? '',
  needs,
  audit,
  send: (by, id) => by.command(text.replace('%', String(id))),
});
const pressed = (
  id: string,
  needs: Action['needs'],
  audit: string,
  value?: (id: number) => unknown,
): Action => ({
  via: 'action',
  id,
  needs,
  audit,
  send: (by, serverId) => by.presses(id, value?.(serverId)),
});
const chosen = (id: string, needs: Action['needs'], audit: string): Action => ({
  via: 'action',
  id,
  needs,
  audit,
  send: (by, serverId) => by.chooses(id, String(serverId)),
});
const submitted = (
  id: string,
  needs: Action['needs'],
  audit: string,
  metadata: (id: number) => unknown,
  fields: (id: number) => Record<string, string> = () => ({}),
): Action => ({
  via: 'modal',
  id,
  needs,
  audit,
  send: (by, serverId) =>
    by.submits(id, envelope(metadata(serverId), `${id}-${by.id}-${serverId}`), fields(serverId)),
});
const queried = (id: string, needs: Action['needs'], audit: string): Action => ({
  via: 'menu',
  id,
  needs,
  audit,
  send: (by) => by.types(id, ''),
});
const used = (id: string, type: 'shortcut' | 'message_action'): Action => ({
  via: 'shortcut',
  id,
  needs: 'viewer',
  audit: 'show',
  send: (by, serverId) => by.uses(type, id, `server ID ${serverId}`),
});
const byId = (id: number) => ({ id });
/** A list of its own for each try: one list acts once. */
const listed = (id: number) => ({ id: `list-${++lists}`, at: Date.now(), servers: [[id, 'x']] });
let lists = 0;
const monthOf = (id: number) => ({ id, paidUntil: 1 });

/** Where the audit's word for a command is not its name. */
const AUDIT_NAMES: Readonly<Record<string, string>> = {
  help: '',
  connect: 'connect_link',
  workflow: 'workflow_keys',
};

/** Every command with only what it requires: the role that it says it needs has to be the one that is checked. */
function plainly({ name, usage, needs }: Command): Action {
  const text = usage
    .replace(/\[server…?\]/, '%')
    .replace(/ \[[^\]]*\](?= <)/, '')
    .replace(/<\w+>/g, 'x')
    .replace(/ \[.*$/, '')
    .replace('…', '');
  return typed(text, needs, AUDIT_NAMES[name] ?? name);
}

const ACTIONS: readonly Action[] = [
  ...commands.map(plainly),
  typed('help create', 'anyone', ''),
  ...['show', 'start', 'stop', 'reboot', 'renew', 'delete', 'password'].map((name) =>
    typed(name, commands.find((command) => command.name === name)?.needs ?? 'owner', name),
  ),
  typed('list web', 'viewer', 'list'),
  typed('create plan=micro location=ams image=debian-13 label=web-new', 'manager', 'create'),
  typed(`access grant <@${USERS.nora.id}> owner`, 'owner', 'access_grant'),
  typed(`access revoke <@${USERS.nora.id}>`, 'owner', 'access_revoke'),
  typed(`access <@${USERS.nora.id}>`, 'owner', 'access'),
  typed('access ask owner', 'anyone', 'access_ask'),
  typed('access withdraw', 'anyone', 'access_withdraw'),
  typed('audit web-1', 'owner', 'audit'),

  pressed('list_page', 'viewer', 'list', () => ({ filter: '', page: 0 })),
  pressed('list_back', 'viewer', 'list', () => ({ filter: '', page: 0 })),
  chosen('manage', 'viewer', 'show'),
  pressed('show', 'viewer', 'show', byId),
  used('manage_server', 'message_action'),
  used('servers', 'shortcut'),
  pressed('manage_match', 'viewer', 'show', byId),
  chosen('find_server', 'viewer', 'show'),
  queried('find_server', 'viewer', 'show'),
  pressed('home_manage', 'viewer', 'show', byId),
  pressed('open_home_manage', 'viewer', 'show', byId),
  chosen('home_find', 'viewer', 'show'),
  queried('home_find', 'viewer', 'show'),
  pressed('home_start', 'operator', 'start', byId),
  pressed('home_stop', 'operator', 'stop', byId),
  pressed('home_reboot', 'operator', 'reboot', byId),
  pressed('home_page', 'anyone', 'panel', () => ({ page: 1 })),
  pressed('home_back', 'anyone', 'panel', () => ({ page: 0 })),
  pressed('home_refresh', 'anyone', 'panel'),
  pressed('check_state', 'viewer', 'show', (id) => ({ act: 'reboot', servers: [{ id, label: 'x' }] })),
  pressed('list', 'viewer', 'list'),
  pressed('approvals', 'manager', 'approvals'),
  pressed('protect', 'owner', 'protect', byId),
  pressed('unprotect', 'owner', 'unprotect', byId),
  chosen('pick_show', 'viewer', 'show'),
  pressed('catalog_page', 'viewer', 'catalog', () => ({ page: 0 })),
  pressed('catalog_back', 'viewer', 'catalog', () => ({ page: 0 })),
  pressed('start', 'operator', 'start', byId),
  chosen('pick_start', 'operator', 'start'),
  pressed('start_several', 'operator', 'start', listed),
  pressed('stop', 'operator', 'stop', byId),
  chosen('pick_stop', 'operator', 'stop'),
  pressed('stop_several', 'operator', 'stop', listed),
  pressed('reboot', 'operator', 'reboot', byId),
  chosen('pick_reboot', 'operator', 'reboot'),
  pressed('reboot_several', 'operator', 'reboot', listed),
  pressed('create', 'manager', 'create'),
  pressed('open_create', 'manager', 'create'),
  pressed('create_review', 'manager', 'create', () => ORDER),
  pressed('create_back', 'manager', 'create', () => ORDER),
  pressed('renew', 'manager', 'renew', byId),
  pressed('open_renew', 'manager', 'renew', byId),
  pressed('reminders', 'viewer', 'reminders'),
  pressed('snooze_day', 'operator', 'reminder_snooze', monthOf),
  pressed('snooze_step', 'operator', 'reminder_snooze', monthOf),
  pressed('let_expire', 'manager', 'reminder_end', monthOf),
  pressed('remind_again', 'operator', 'reminder_again', monthOf),
  pressed('all_reminders', 'viewer', 'reminders'),
  pressed('open_all_reminders', 'viewer', 'reminders'),
  pressed('reminders_page', 'viewer', 'reminders', () => ({ page: 0 })),
  pressed('reminders_back', 'viewer', 'reminders', () => ({ page: 0 })),
  pressed('renew_all', 'manager', 'renew'),
  pressed('open_renew_all', 'manager', 'renew'),
  pressed('delete', 'manager', 'delete', byId),
  pressed('open_delete', 'manager', 'delete', byId),
  pressed('costs_csv', 'viewer', 'costs'),
  pressed('open_costs_csv', 'viewer', 'costs'),
  pressed('password', 'anyone', 'password', (id) => ({ typed: String(id) })),
  chosen('pick_password', 'anyone', 'password'),
  pressed('password_saved', 'anyone', 'password_saved', () => ({ operationId: 'none' })),
  pressed('link', 'anyone', ''),
  pressed('approval_approve', 'manager', 'approval_answer', () => ({ id: 'none' })),
  pressed('approval_deny', 'manager', 'approval_answer', () => ({ id: 'none' })),
  pressed('approval_deny_reason', 'manager', 'approval_answer', () => ({ id: 'none' })),
  pressed('open_deny_approval', 'manager', 'approval_answer', () => ({ id: 'none' })),
  pressed('approval_withdraw', 'anyone', 'approval_withdraw', () => ({ id: 'none' })),
  pressed('note', 'operator', 'note', byId),
  pressed('open_note', 'operator', 'note', byId),
  pressed('settings', 'owner', 'settings'),
  ...['', '_spending', '_approvals', '_notifications'].map((name) =>
    pressed(`open_settings${name}`, 'owner', 'settings'),
  ),
  pressed('decide', 'manager', 'decide', () => ({ operationId: 'none' })),
  pressed('open_decide', 'manager', 'decide', () => ({ operationId: 'none' })),
  pressed('access_ask', 'anyone', 'access_ask', () => ({ role: 'owner' })),
  pressed('open_ask', 'anyone', 'access_ask', () => ({ role: 'owner' })),
  ...['access_workday', 'access_permanent', 'access_deny'].map((id) =>
    pressed(id, 'owner', 'access_answer', () => ({ id: 'none' })),
  ),
  ...['access_adjust', 'open_approve_access'].map((id) =>
    pressed(id, 'owner', 'access_answer', () => ({ id: 'none' })),
  ),
  pressed('access_withdraw', 'anyone', 'access_withdraw', () => ({ id: 'none' })),
  pressed('access_continue', 'anyone', 'access_continue', () => ({ id: 'none' })),
  pressed('access_grant', 'owner', 'access_grant'),
  pressed('open_grant', 'owner', 'access_grant'),
  pressed('access_revoke', 'owner', 'access_revoke', () => ({ grantId: 'none', page: 0 })),
  pressed('access_back', 'owner', 'access', () => ({ page: 0 })),
  pressed('access_further', 'owner', 'access', () => ({ page: 0 })),
  pressed('audit_page', 'owner', 'audit', () => ({ before: 1e9 })),
  pressed('audit_newest', 'owner', 'audit'),
  pressed('audit_details', 'owner', 'audit', () => ({ seq: 1e9 })),
  pressed('open_audit_entry', 'owner', 'audit', () => ({ seq: 1e9 })),
  pressed('audit_filter', 'owner', 'audit'),
  pressed('open_audit_filter', 'owner', 'audit'),
  pressed('workflow_run', 'operator', 'workflow_answer', () => ({ run: 'none' })),
  pressed('workflow_cancel', 'operator', 'workflow_cancel', () => ({ run: 'none' })),
  pressed('workflow_issue', 'owner', 'workflow_key_issue'),
  pressed('open_workflow_key', 'owner', 'workflow_key_issue'),
  pressed('workflow_revoke', 'owner', 'workflow_key_revoke', () => ({ keyId: 'none', page: 0 })),
  pressed('workflow_back', 'owner', 'workflow_keys', () => ({ page: 0 })),
  pressed('workflow_page', 'owner', 'workflow_keys', () => ({ page: 0 })),
  pressed('connect', 'owner', 'connect_link'),
  pressed('disconnect', 'owner', 'disconnect'),

  submitted(
    'create',
    'manager',
    'create',
    () => ({}),
    () => ORDER,
  ),
  submitted('create_review', 'manager', 'confirm', () => ({ order: ORDER, price: PRICE })),
  submitted(
    'pick_renew',
    'manager',
    'renew',
    () => ({}),
    (id) => ({ server: String(id) }),
  ),
  submitted('renew_review', 'manager', 'confirm', (id) => ({ serverId: id, label: 'web', paidUntil: 1 })),
  submitted('renew_all', 'manager', 'renew_all', () => ({})),
  submitted(
    'pick_delete',
    'manager',
    'delete',
    () => ({}),
    (id) => ({ server: String(id) }),
  ),
  submitted(
    'delete',
    'manager',
    'delete',
    (id) => ({ serverId: id, label: 'x', word: 'x' }),
    () => ({ label: 'x' }),
  ),
  submitted(
    'decide',
    'manager',
    'decide',
    () => ({ operationId: 'none' }),
    () => ({ outcome: 'nothing' }),
  ),

  submitted(
    'ask_access',
    'anyone',
    'access_ask',
    () => ({ role: 'owner' }),
    () => ({ reason: 'on call' }),
  ),
  submitted('deny_approval', 'manager', 'approval_answer', () => ({ id: 'none' })),
  submitted(
    'approve_access',
    'owner',
    'access_answer',
    () => ({ id: 'none' }),
    () => ({ role: 'viewer', time: '8' }),
  ),
  submitted(
    'grant',
    'owner',
    'access_grant',
    () => ({}),
    () => ({ user: USERS.nora.id, role: 'viewer', time: 'permanent' }),
  ),
  submitted('note', 'operator', 'note', byId),
  submitted(
    'settings_spending',
    'owner',
    'settings_change',
    () => DEFAULT_SETTINGS,
    () => ({ freeze: 'on' }),
  ),
  submitted(
    'settings_approvals',
    'owner',
    'settings_change',
    () => DEFAULT_SETTINGS,
    () => ({ approveDelete: 'on', approveRenew: 'off' }),
  ),
  submitted(
    'settings_notifications',
    'owner',
    'settings_change',
    () => DEFAULT_SETTINGS,
    () => ({ announces: 'off' }),
  ),
  submitted('audit_filter', 'owner', 'audit', () => ({})),
  submitted(
    'workflow_key',
    'owner',
    'workflow_key_issue',
    () => ({}),
    () => ({ name: 'nightly', actions: 'reboot', pattern: 'web-*', time: '30' }),
  ),

  queried('manage', 'viewer', 'show'),
  queried('pick_show', 'viewer', 'show'),
  queried('pick_start', 'operator', 'start'),
  queried('pick_stop', 'operator', 'stop'),
  queried('pick_reboot', 'operator', 'reboot'),
  queried('pick_renew.server', 'manager', 'renew'),
  queried('pick_delete.server', 'manager', 'delete'),
  queried('grant.group', 'owner', 'access_grant'),
  queried('create.plan', 'manager', 'create'),
  queried('create.location', 'manager', 'create'),
  queried('create.image', 'manager', 'create'),
];

const REFUSED = /You need the \*?\w+\*? role|another organization/;

interface Sender {
  readonly who: UserName;
  readonly role?: Role;
}

function isAllowed(action: Action, { who, role }: Sender): boolean {
  // Slack itself keeps commands from other organizations: only what needs no role answers one.
  if (who === 'sam') return action.audit === '' || (action.via === 'command' && action.needs === 'anyone');
  return action.needs === 'anyone' || roleCovers(role, action.needs);
}

/**
 * Whether the role is the lowest one that may, or the highest one that may not: the others follow from the order of roles, which
 * `test/domain/access.test.ts` holds. Users without a role, guests and strangers try everything; the long form has every pair.
 */
function isAtEdge({ needs }: Action, { role }: Sender): boolean {
  if (isLong || role === undefined || needs === 'anyone') return true;
  const distance = ROLES.indexOf(role) - ROLES.indexOf(needs);
  return distance === 0 || distance === -1;
}

/** Sends the action and waits until the app has answered. */
async function send(action: Action, by: RawUser, serverId: number): Promise<string> {
  const before = by.mark();
  const repliesBefore = by.ephemeralMessages().length;
  const { status, response } = await action.send(by, serverId);
  expect(status).toBe(200);
  if (action.via === 'modal' || action.via === 'menu') return response;
  if (action.id === 'link') return '';
  await by.seesChange(before);
  if (action.via === 'shortcut') {
    await until(() => !by.modal().includes('Loading…'), 2);
    return by.modal();
  }
  return by.ephemeralMessages().slice(repliesBefore).join('\n');
}

async function expectRefused(action: Action, by: RawUser, serverId: number): Promise<void> {
  const newest = await newestOf(by);
  const words = await send(action, by, serverId);
  await until(async () => (await newestOf(by)) !== newest, 5);
  // One more than there may be.
  const entries = await by.audit(3);
  const before = entries.findIndex(({ id }) => id === newest);
  expect(
    entries.slice(0, before === -1 ? entries.length : before).map((entry) => entry.action),
    `${action.via} ${action.id}`,
  ).toEqual([action.audit]);
  expect(entries[0], `${action.via} ${action.id}`).toMatchObject({ outcome: 'denied', action: action.audit });
  if (action.via === 'menu') expect(JSON.parse(words)).toEqual({ options: [] });
  else expect(words, `${action.via} ${action.id}`).toMatch(REFUSED);
}

async function newestOf(by: RawUser): Promise<string | undefined> {
  const [entry] = await by.audit(1);
  return entry?.id;
}

async function startWithServers(): Promise<{
  team: Team;
  senders: readonly Sender[];
  ids: readonly number[];
}> {
  // Hundreds of acts in a few seconds, each with answers and announcements: Slack would take minutes.
  const team = await startTeam({ balanceMinor: 10_000_000, hasRateLimits: false });
  const ids = team.hosting.seedServers(team.account, 400, 'web');
  const senders: readonly Sender[] = [
    { who: 'olga', role: 'owner' },
    { who: 'mara', role: 'manager' },
    { who: 'otto', role: 'operator' },
    { who: 'vera', role: 'viewer' },
    { who: 'nora' },
    { who: 'gus' },
    { who: 'sam' },
  ];
  return { team, senders, ids };
}

describe('every command, button, form and menu', () => {
  it('is in the table of this test', () => {
    const idsVia = (via: Action['via']) => [
      ...new Set(ACTIONS.filter((action) => action.via === via).map(({ id }) => id)),
    ];
    const all = <Kind>(pick: (command: typeof home) => readonly Kind[]) =>
      [...commands, home, panel].flatMap(pick);
    expect(idsVia('command').sort()).toEqual(commands.map(({ name }) => name).sort());
    expect(idsVia('action').sort()).toEqual(all(({ actions }) => actions.map(({ id }) => id)).sort());
    expect(idsVia('shortcut').sort()).toEqual(shortcuts.map(({ id }) => id).sort());
    expect(idsVia('modal').sort()).toEqual(all(({ modals }) => modals.map(({ id }) => id)).sort());
    expect(idsVia('menu').sort()).toEqual(all(({ suggestions }) => suggestions.map(({ id }) => id)).sort());
  });

  it('is in docs/surfaces.md, with the role that it needs', () => {
    const rows = readFileSync('docs/surfaces.md', 'utf8').matchAll(/^\| (\w+) \| `([^`]+)` \| (\w+) \|/gm);
    const written = [...rows].map(([, via, id, needs]) => `${via} ${id}: ${needs}`);
    // A user who may not see the roles may still request one, and withdraw that.
    const ACTS: Readonly<Record<string, string>> = {
      access_ask: 'access ask',
      access_withdraw: 'access withdraw',
    };
    const idOf = ({ via, id, audit }: Action) => (via === 'command' ? (ACTS[audit] ?? id) : id);
    const found = new Set(ACTIONS.map((action) => `${action.via} ${idOf(action)}: ${action.needs}`));
    expect(written.sort()).toEqual([...found].sort());
  });

  it('refuses users without the required role before anything is sent, with an explanation and an audit entry', async () => {
    const { team, senders, ids } = await startWithServers();
    await using _ = team;
    let refused = 0;
    for (const sender of senders) {
      const by = rawUser(team, sender.who);
      for (const action of ACTIONS.filter((each) => !isAllowed(each, sender) && isAtEdge(each, sender))) {
        await expectRefused(action, by, ids[0] ?? 0);
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(150);
    expect(team.hosting.requests()).toEqual([]);
    expect(team.hosting.charges(team.account)).toEqual([]);
  });

  it('is allowed to users with the required role', async () => {
    const { team, senders, ids } = await startWithServers();
    await using _ = team;
    await team.app.ports.grants.put({
      workspaceId: TEAM.id,
      subjectKind: 'user',
      subjectId: USERS.gus.id,
      role: 'operator',
      pattern: '',
      grantedBy: USERS.olga.id,
      grantedAt: 0,
    });
    const withGuest = senders.map((sender) =>
      sender.who === 'gus' ? { ...sender, role: ROLES[1] } : sender,
    );
    let used = 0;
    const toDisconnect: (() => Promise<unknown>)[] = [];
    for (const sender of withGuest) {
      const by = rawUser(team, sender.who);
      for (const action of ACTIONS.filter((each) => isAllowed(each, sender) && isAtEdge(each, sender))) {
        const serverId = ids[used++] ?? 0;
        const attempt = async () => expect(await send(action, by, serverId), action.id).not.toMatch(REFUSED);
        if (action.id === 'disconnect') toDisconnect.push(attempt);
        else await attempt();
      }
    }
    for (const attempt of toDisconnect) await attempt();
    for (const { who } of withGuest) {
      const entries = await rawUser(team, who).audit();
      expect(entries.filter(({ outcome }) => outcome === 'denied')).toEqual([]);
    }
    expect(team.slack.brokenRules()).toEqual([]);
  });

  it('refuses a guest anything beyond the guest’s own grant', async () => {
    const { team, ids } = await startWithServers();
    await using _ = team;
    await team.slack.as('olga').in('#ops').types('/vps access grant @gus operator');
    await team.slack.as('olga').in('#ops').sees('is now an operator');
    const by = rawUser(team, 'gus');
    const sender = { who: 'gus', role: 'operator' } as const;
    for (const action of ACTIONS.filter((each) => !isAllowed(each, sender))) {
      await expectRefused(action, by, ids[0] ?? 0);
    }
    expect(changesSeen(team)).toEqual([]);
  });
});

describe('a role that is not granted to the user directly', () => {
  const nora = USERS.nora.id;
  const HOUR_MS = 3_600_000;
  const given = { workspaceId: TEAM.id, grantedBy: USERS.olga.id, grantedAt: 0, pattern: '' } as const;

  it.each<[string, Role, Partial<NewGrant> & Pick<NewGrant, 'subjectKind' | 'subjectId'>]>([
    ['through a user group', 'operator', { subjectKind: 'group', subjectId: 'S0ONCALL01' }],
    ['through the channel', 'viewer', { subjectKind: 'channel', subjectId: 'C0OPS00001' }],
    ['for a time', 'manager', { subjectKind: 'user', subjectId: nora, until: Date.now() + HOUR_MS }],
  ])('allows and refuses the same as a direct one: %s', async (_how, role, how) => {
    const { team, ids } = await startWithServers();
    await using _ = team;
    await team.app.ports.grants.put({ ...given, role, ...how });
    const by = rawUser(team, 'nora');
    const sender = { who: 'nora', role } as const;
    const tried = ACTIONS.filter((each) => isAtEdge(each, sender));
    for (const action of tried.filter((each) => !isAllowed(each, sender)))
      await expectRefused(action, by, ids[0] ?? 0);
    const denied = (await by.audit()).filter(({ outcome }) => outcome === 'denied').length;
    // A global shortcut is used nowhere in particular.
    const isPlaced = ({ id }: Action) => how.subjectKind !== 'channel' || id !== 'servers';
    const allowed = tried.filter((each) => isAllowed(each, sender) && isPlaced(each));
    for (const [at, action] of allowed.entries()) {
      expect(await send(action, by, ids[at] ?? 0), action.id).not.toMatch(REFUSED);
    }
    expect((await by.audit()).filter(({ outcome }) => outcome === 'denied')).toHaveLength(denied);
  });

  it('allows nothing once it has ended, to bots, and to deactivated users', async () => {
    const { team, ids } = await startWithServers();
    await using _ = team;
    const { grants } = team.app.ports;
    await grants.put({ ...given, role: 'owner', subjectKind: 'group', subjectId: 'S0ONCALL01' });
    // The last one, since storing a grant removes those that have ended.
    await grants.put({
      ...given,
      role: 'owner',
      subjectKind: 'user',
      subjectId: nora,
      until: Date.now() - 1,
    });
    team.slack.admin.group('oncall').users.delete(nora);
    for (const action of ACTIONS.filter(({ needs }) => needs !== 'anyone')) {
      await expectRefused(action, rawUser(team, 'nora'), ids[0] ?? 0);
    }
    for (const who of [USERS.finn, OTHER_BOT]) {
      team.slack.admin.group('oncall').users.add(who.id);
      const by = rawUser(team, who, 'nora');
      for (const action of ACTIONS.filter(({ needs }) => needs !== 'anyone')) {
        const newest = await newestOf(by);
        await action.send(by, ids[0] ?? 0);
        await until(async () => (await newestOf(by)) !== newest, 5);
        expect((await by.audit(1))[0], action.id).toMatchObject({ outcome: 'denied', code: 'role_needed' });
      }
    }
    expect(team.hosting.requests()).toEqual([]);
  });
});
