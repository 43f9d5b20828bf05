import { commands } from '../../src/commands.ts';
import type { Role } from '../../src/core/roles.ts';
import { DEFAULT_SETTINGS } from '../../src/core/settings.ts';
import type { Delivery } from '../../src/sandbox/slack/deliver.ts';
import { USERS } from '../../src/sandbox/slack/workspace.ts';
import type { Command } from '../../src/slack/kit/command.ts';
import { envelope, type RawUser } from './raw-user.ts';

/** One way to ask for something, the role that it needs, and its name in the audit. */
export interface Action {
  readonly via: 'command' | 'action' | 'modal' | 'menu' | 'shortcut';
  /** The subcommand, the action, the modal, or the menu that is typed into. */
  readonly id: string;
  readonly needs: Role | 'anyone';
  readonly audit: string;
  send(by: RawUser, serverId: number): Promise<Delivery>;
}

const ORDER = { plan: 'micro', location: 'ams', image: 'debian-13', label: 'web-new' };
const PRICE = 290;

const action = (
  via: Action['via'],
  id: string,
  needs: Action['needs'],
  audit: string,
  send: Action['send'],
): Action => ({ via, id, needs, audit, send });

const typed = (text: string, needs: Action['needs'], audit: string) =>
  action('command', text.split(' ')[0] ?? '', needs, audit, (by, id) =>
    by.command(text.replace('%', String(id))),
  );
const pressed = (id: string, needs: Action['needs'], audit: string, value?: (id: number) => unknown) =>
  action('action', id, needs, audit, (by, serverId) => by.presses(id, value?.(serverId)));
const chosen = (id: string, needs: Action['needs'], audit: string) =>
  action('action', id, needs, audit, (by, serverId) => by.chooses(id, String(serverId)));
type Fields = Readonly<Record<string, string>>;
const submitted = (
  id: string,
  needs: Action['needs'],
  audit: string,
  metadata: object | ((id: number) => object) = {},
  fields: Fields | ((id: number) => Fields) = {},
) =>
  action('modal', id, needs, audit, (by, serverId) => {
    const about = typeof metadata === 'function' ? metadata(serverId) : metadata;
    const entered = typeof fields === 'function' ? fields(serverId) : fields;
    return by.submits(id, envelope(about, `${id}-${by.id}-${serverId}`), entered);
  });
const queried = (id: string, needs: Action['needs'], audit: string) =>
  action('menu', id, needs, audit, (by) => by.types(id, ''));
const used = (id: string, type: 'shortcut' | 'message_action') =>
  action('shortcut', id, 'viewer', 'show', (by, serverId) => by.uses(type, id, `server ID ${serverId}`));
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

/** Every surface of the app: the table that tests try every user with. */
export const ACTIONS: readonly Action[] = [
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
  pressed('home_page', 'anyone', 'panel', () => ({ page: 1 })),
  pressed('home_back', 'anyone', 'panel', () => ({ page: 0 })),
  pressed('home_refresh', 'anyone', 'panel'),
  pressed('list', 'viewer', 'list'),
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
  pressed('snooze', 'operator', 'reminder_snooze', monthOf),
  pressed('let_expire', 'manager', 'reminder_end', monthOf),
  pressed('remind_again', 'operator', 'reminder_again', monthOf),
  pressed('reminders_page', 'viewer', 'reminders', () => ({ page: 0 })),
  pressed('reminders_back', 'viewer', 'reminders', () => ({ page: 0 })),
  pressed('renew_all', 'manager', 'renew'),
  pressed('open_renew_all', 'manager', 'renew'),
  pressed('delete', 'manager', 'delete', byId),
  pressed('open_delete', 'manager', 'delete', byId),
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
  pressed('access_page', 'owner', 'access', () => ({ page: 0 })),
  pressed('audit_page', 'owner', 'audit', () => ({ before: 1e9 })),
  pressed('audit_newest', 'owner', 'audit'),
  pressed('audit_details', 'owner', 'audit', () => ({ seq: 1e9 })),
  pressed('open_audit_entry', 'owner', 'audit', () => ({ seq: 1e9 })),
  pressed('workflow_run', 'operator', 'workflow_answer', () => ({ run: 'none' })),
  pressed('workflow_cancel', 'operator', 'workflow_cancel', () => ({ run: 'none' })),
  pressed('workflow_issue', 'owner', 'workflow_key_issue'),
  pressed('open_workflow_key', 'owner', 'workflow_key_issue'),
  pressed('workflow_revoke', 'owner', 'workflow_key_revoke', () => ({ keyId: 'none', page: 0 })),
  pressed('workflow_back', 'owner', 'workflow_keys', () => ({ page: 0 })),
  pressed('workflow_page', 'owner', 'workflow_keys', () => ({ page: 0 })),
  pressed('connect', 'owner', 'connect_link'),
  pressed('disconnect', 'owner', 'disconnect'),

  submitted('create', 'manager', 'create', {}, ORDER),
  submitted('create_review', 'manager', 'confirm', { order: ORDER, price: PRICE }),
  submitted('pick_renew', 'manager', 'renew', {}, (id) => ({ server: String(id) })),
  submitted('renew_review', 'manager', 'confirm', (id) => ({ serverId: id, label: 'web', paidUntil: 1 })),
  submitted('renew_all', 'manager', 'renew_all', {}),
  submitted('pick_delete', 'manager', 'delete', {}, (id) => ({ server: String(id) })),
  submitted('delete', 'manager', 'delete', (id) => ({ serverId: id, label: 'x', word: 'x' }), { label: 'x' }),
  submitted('decide', 'manager', 'decide', { operationId: 'none' }, { outcome: 'nothing' }),

  submitted('ask_access', 'anyone', 'access_ask', { role: 'owner' }, { reason: 'on call' }),
  submitted('deny_approval', 'manager', 'approval_answer', { id: 'none' }),
  submitted('approve_access', 'owner', 'access_answer', { id: 'none' }, { role: 'viewer', time: '8' }),
  submitted('grant', 'owner', 'access_grant', {}, { user: USERS.nora.id, role: 'viewer', time: 'permanent' }),
  submitted('note', 'operator', 'note', byId),
  submitted('settings_spending', 'owner', 'settings_change', DEFAULT_SETTINGS, { freeze: 'on' }),
  submitted('settings_approvals', 'owner', 'settings_change', DEFAULT_SETTINGS, {
    approveDelete: 'on',
    approveRenew: 'off',
  }),
  submitted('settings_notifications', 'owner', 'settings_change', DEFAULT_SETTINGS, { announces: 'off' }),
  submitted(
    'workflow_key',
    'owner',
    'workflow_key_issue',
    {},
    { name: 'nightly', actions: 'reboot', pattern: 'web-*', time: '30' },
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
