import type { KnownBlock } from '@slack/types';
import { z } from 'zod';
import { isRefusal } from '../core/errors.ts';
import type { UserId } from '../core/ids.ts';
import { EVERY_SERVER, findNearest, findPattern } from '../core/labels.ts';
import type { KnownRoles } from '../core/permission.ts';
import { type Grant, type Grantee, type HeldRoles, ROLES, type Role } from '../core/roles.ts';
import { DAY_MS, findDuration } from '../core/time.ts';
import type { RoleRequest } from '../requests/request.ts';
import { type WantedRole, withdrawRoleRequest } from '../requests/role-request.ts';
import {
  answerButtons,
  type RunTyped,
  requestAccessButton,
  requestAccessForm,
  roleRequestHandlers,
  withdrawnMessage,
} from '../requests/role-request-card.ts';
import {
  actions,
  confirmation,
  context,
  divider,
  header,
  type Message,
  section,
  textMessage,
} from '../slack/kit/blocks.ts';
import { defineButton, definePages, pageNumber, pageOf, type Turn } from '../slack/kit/button.ts';
import {
  type Command,
  defineCommand,
  findChannelId,
  findGroupId,
  findUserId,
  type Suggestions,
  type TypedWords,
} from '../slack/kit/command.ts';
import { defineForm, loadingView, noticeView } from '../slack/kit/form.ts';
import { capital, codeLabel, count, mention, slackDate } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import {
  GRANT_TITLE,
  grantedWords,
  grantForm,
  grantView,
  listGroupOptions,
  readGrantFields,
} from './grant-form.ts';
import {
  type AccessList,
  explainAccess,
  grantAccess,
  listAccess,
  listGroups,
  revokeAccess,
  type WantedGrant,
} from './grants.ts';
import { describeGrantee, describeHeldRole, describeRequest, plainRole } from './words.ts';

const grantButton = defineButton('access_grant', z.object({}));
/** Revokes one grant on `/vps access`; `page` is the page to show again. */
const revokeButton = defineButton('access_revoke', z.object({ grantId: z.string(), page: pageNumber }));
const accessPages = definePages('access');

const form = defineForm({
  id: 'grant',
  title: GRANT_TITLE,
  input: z.object({}),
  needs: grantAccess,
  load: async (_input, request, origin) => grantView(await request.execute(listGroups, {}), origin),
});

/** `/vps access`. `runTyped` runs the command for which a granted role was requested. */
export function defineAccess(runTyped: RunTyped): Command {
  const requests = roleRequestHandlers(runTyped);
  return defineCommand({
    name: 'access',
    usage: ACCESS_USAGE,
    example: 'access grant @ann operator on web-* for 8h',
    summary: 'Manage roles, or ask for one',
    needs: 'owner',
    parse: parseAccess,
    run: async (command, request) => {
      if (command.act === 'ask') return requestAccessForm.open(command.wanted, request);
      await request.reply.send(await carryOut(command, request));
    },
    actions: [
      ...requests.actions,
      form.handler,
      grantButton.on((_input, request) => form.open({}, request)),
      ...accessPages.on(turnPage),
      revokeButton.on(async ({ grantId, page }, request) => {
        await request.execute(revokeAccess, { grantId });
        await turnPage({ page }, request);
      }),
    ],
    modals: [...requests.modals, grantModal],
    suggestions: [groupSuggestions],
  });
}

async function carryOut(
  command: Exclude<AccessCommand, { act: 'ask' }>,
  request: SlackRequest,
): Promise<Message> {
  switch (command.act) {
    case 'list':
      return request.execute(listAccess, {}).then(
        (list) => accessScreen(list, 0),
        (error: unknown) => offerAccess(error, request),
      );
    case 'explain': {
      const { userId } = command;
      return rolesMessage(userId, await request.execute(explainAccess, { userId }));
    }
    case 'grant':
      return textMessage(grantedWords(await request.execute(grantAccess, command.wanted)));
    case 'revoke': {
      const { removed, left } = await request.execute(revokeAccess, command.grantee);
      return textMessage(revokedWords(command.grantee, removed.length, left));
    }
    case 'withdraw':
      return withdrawnMessage(await request.execute(withdrawRoleRequest, {}));
  }
}

const grantModal = grantForm.onSubmit(grantAccess, async ({ fields, viewId }, request) => {
  const wanted = readGrantFields(fields);
  if ('errors' in wanted) return { with: wanted };
  return {
    with: loadingView(GRANT_TITLE, 'Granting the role…'),
    after: async () => {
      const words = grantedWords(await request.execute(grantAccess, wanted));
      await request.views.update(viewId, noticeView('Role granted', words));
    },
  };
});

const groupSuggestions: Suggestions = {
  id: `${grantForm.id}.group`,
  find: async (typed, request) => {
    const groups = await request.execute(listGroups, {});
    return listGroupOptions(groups ?? [], typed).slice(0, 100);
  },
};

/** Everyone but an owner reads which role they have, and can ask for the next one. */
function offerAccess(error: unknown, request: SlackRequest): Message {
  if (!isRefusal(error, 'role_needed')) throw error;
  const { held } = error.details;
  const next = ROLES[held === undefined ? 0 : ROLES.indexOf(held) + 1] ?? 'owner';
  // The app doesn't suggest becoming an owner.
  if (next === 'owner') throw error;
  const ask = requestAccessButton.element('Ask for access', { role: next }, { style: 'primary' });
  return textMessage(request.explain(error), actions(ask));
}

async function turnPage({ page }: Turn, request: SlackRequest): Promise<void> {
  await request.reply.replace(accessScreen(await request.execute(listAccess, {}), page));
}

/** Says what was revoked, and which roles a user still has here: as a Slack admin, or through a group or this channel. */
export function revokedWords(grantee: Grantee, revoked: number, left: HeldRoles | undefined): string {
  const who = describeGrantee(grantee);
  if (grantee.subjectKind !== 'user')
    return revoked > 0 ? `The role of ${who} was revoked.` : `${who} doesn’t have a role.`;
  if (left?.length === 0)
    return revoked > 0
      ? `${who}’s role was revoked. They have no other role in this channel.`
      : `${who} doesn’t have a role in this channel.`;
  const done = revoked > 0 ? `${who}’s own role was revoked.` : `${who} doesn’t have a role of their own.`;
  if (!left)
    return `${done} They may still have a role through a group, a channel or admin rights: we couldn’t check with Slack. Check later with \`/vps access @user\`.`;
  return `${done} In this channel, they still have:\n${roleLines(left)}`;
}

const ACCESS_USAGE =
  'access [@user | grant @user|@group|#channel <role> [on web-*] [for 8h] | revoke @user|@group|#channel | ask <role> | withdraw]';

type AccessCommand =
  | { readonly act: 'list' }
  | { readonly act: 'explain'; readonly userId: UserId }
  | { readonly act: 'grant'; readonly wanted: WantedGrant }
  | { readonly act: 'revoke'; readonly grantee: Grantee }
  | { readonly act: 'ask'; readonly wanted: WantedRole }
  | { readonly act: 'withdraw' };

const ACTS = ['list', 'grant', 'revoke', 'ask', 'withdraw'];
const LONGEST_MS = 366 * DAY_MS;

/** Parses what was typed after `access`. A string says what is wrong with it. */
function parseAccess({ words }: TypedWords): AccessCommand | string {
  const [act = 'list', ...plain] = words;
  const userId = findUserId(act);
  if (userId !== undefined) return { act: 'explain', userId };
  const [on, forTime] = [takeClause(plain, 'on'), takeClause(plain, 'for')];
  switch (act.toLowerCase()) {
    case 'list':
      return { act: 'list' };
    case 'grant':
      return parseGrant(plain, on, forTime);
    case 'revoke':
      return on === undefined && forTime === undefined ? parseRevoke(plain) : REVOKES_ALL;
    case 'ask':
      return forTime === undefined
        ? parseAsk(plain, on)
        : 'Leave out “for”: the owner who answers decides how long the role lasts. Use “on web-1” to ask for one server.';
    case 'withdraw':
      return words.length === 1
        ? { act: 'withdraw' }
        : 'Just type `/vps access withdraw`: it withdraws all of your open requests.';
    default: {
      const nearest = findNearest(act, ACTS);
      return `There’s no “access ${act}” command.${nearest === undefined ? '' : ` Did you mean “access ${nearest}”?`}`;
    }
  }
}

const REVOKES_ALL =
  '`revoke` removes all roles of a user, group or channel. To revoke just one, press Revoke in `/vps access`.';

/** Takes "on web-*" or "for 8h" out of the words, wherever it is; '' if nothing follows it. */
function takeClause(words: string[], name: 'on' | 'for'): string | undefined {
  const at = words.findIndex((word) => word.toLowerCase() === name);
  return at < 0 ? undefined : (words.splice(at, 2)[1] ?? '');
}

function parseGrant(
  [who = '', role = '', tooMuch]: readonly string[],
  on: string | undefined,
  forTime: string | undefined,
): AccessCommand | string {
  const grantee = findGrantee(who);
  if (!grantee) return explainWho(who);
  const wanted = findRole(role);
  if (!wanted) return explainRole(role);
  if (tooMuch !== undefined)
    return `We didn’t understand “${tooMuch}”. Use “on web-*” for servers and “for 8h” for a duration.`;
  const pattern = on === undefined ? EVERY_SERVER : findPattern(on);
  if (pattern === undefined) return 'After “on”, give part of a label, such as web-*.';
  const forMs = forTime === undefined ? undefined : (findDuration(forTime) ?? 0);
  if (forMs !== undefined && !(forMs > 0 && forMs <= LONGEST_MS))
    return 'After “for”, give a duration up to a year, such as 30m, 8h, 2d or 1w.';
  return { act: 'grant', wanted: { ...grantee, role: wanted, pattern, forMs } };
}

function parseRevoke([who = '', tooMuch]: readonly string[]): AccessCommand | string {
  const grantee = findGrantee(who);
  if (!grantee) return explainWho(who);
  return tooMuch === undefined ? { act: 'revoke', grantee } : REVOKES_ALL;
}

function parseAsk([role = '', ...rest]: readonly string[], on: string | undefined): AccessCommand | string {
  const wanted = findRole(role);
  if (!wanted) return explainRole(role);
  if (on !== undefined && (on === '' || rest.length > 0)) return 'After “on”, give one label, such as web-1.';
  const label = on ?? (rest.length === 0 ? undefined : rest.join(' '));
  return { act: 'ask', wanted: { role: wanted, label } };
}

function findGrantee(word: string): Grantee | undefined {
  const [user, group, channel] = [findUserId(word), findGroupId(word), findChannelId(word)];
  if (user !== undefined) return { subjectKind: 'user', subjectId: user };
  if (group !== undefined) return { subjectKind: 'group', subjectId: group };
  return channel === undefined ? undefined : { subjectKind: 'channel', subjectId: channel };
}

function findRole(typed: string): Role | undefined {
  return ROLES.find((known) => known === typed.toLowerCase());
}

function explainRole(typed: string): string {
  const nearest = findNearest(typed, ROLES);
  const wrong = typed === '' ? '' : `There’s no “${typed}” role. `;
  return `${wrong}Choose viewer, operator, manager or owner.${nearest ? ` Did you mean ${nearest}?` : ''}`;
}

function explainWho(typed: string): string {
  if (typed === '') return 'Who? Mention a user or a user group with @, or a channel with #.';
  return `“${typed}” isn’t a user, user group or channel that Slack recognizes. Choose one from the list that Slack shows while you type.`;
}

const ROWS_PER_PAGE = 12;
/** Roles that fit into one section, even with the longest patterns. */
const MOST_ROLES = 12;
const MOST_REQUESTS = 5;

/** Renders one page (from 0) of who has which role and how, and the open requests, with buttons to change them. */
export function accessScreen({ requests, ...list }: AccessList, asked: number): Message {
  const rows = listRows(list);
  const { page, pages, from, shown } = pageOf(rows, asked, ROWS_PER_PAGE);
  const place = pages > 1 ? ` Showing ${from + 1}–${from + shown.length} of ${rows.length}.` : '';
  return {
    text: `Roles: ${rows.length} in this workspace, ${count(requests.length, 'open request')}`,
    blocks: [
      header('Roles'),
      ...requestBlocks(requests),
      ...(rows.length === 0 ? [section('No roles have been granted yet.')] : rowBlocks(shown, page)),
      actions(
        grantButton.element('Grant a role…', {}, { style: 'primary' }),
        ...accessPages.buttons({ page, pages }),
      ),
      context(
        `The highest role applies.${place} ${describeAdmins(list.admins)} To check one user: \`/vps access @user\`.`,
      ),
    ],
  };
}

function requestBlocks(requests: readonly RoleRequest[]): KnownBlock[] {
  if (requests.length === 0) return [];
  const shown = requests.slice(0, MOST_REQUESTS);
  const rest = requests.length - shown.length;
  return [
    ...shown.flatMap((request) => [section(describeRequest(request)), answerButtons(request.id)]),
    ...(rest > 0 ? [context(`${count(rest, 'more open request')}, shown once these are answered.`)] : []),
    divider(),
  ];
}

function describeAdmins(admins: AccessList['admins']): string {
  if (!admins)
    return 'Slack admins aren’t listed: the app lacks the scope `users:read`, or Slack didn’t answer in time.';
  return `Workspace admins are owners, too.${admins.isComplete ? '' : ' Slack didn’t list all of them.'}`;
}

export function rolesMessage(userId: UserId, { held, possible }: KnownRoles): Message {
  const isSure = possible.length === 0;
  const unsure = `Slack didn’t confirm all of ${mention(userId)}’s roles. Try again in a minute.`;
  if (held.length === 0)
    return textMessage(isSure ? `${mention(userId)} doesn’t have a role in this channel.` : unsure);
  return textMessage(
    `Roles of ${mention(userId)} in this channel:\n${roleLines(held)}`,
    context(`The highest role applies.${isSure ? '' : ` ${unsure}`}`),
  );
}

function roleLines(roles: HeldRoles): string {
  const lines = roles.slice(0, MOST_ROLES).map((held) => `• ${describeHeldRole(held)}`);
  const rest = roles.length - lines.length;
  return [...lines, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n');
}

/** Lists who has a role and how: by a grant, or as an owner by `OWNERS` or as a Slack admin. */
function listRows({ grants, owners, admins }: Omit<AccessList, 'requests'>): readonly RoleRow[] {
  const adminIds = admins?.userIds ?? [];
  const owning = [...new Set([...owners, ...adminIds])].map((userId) => {
    const ways = [
      ...(owners.includes(userId) ? ['listed in `OWNERS`'] : []),
      ...(adminIds.includes(userId) ? ['Slack admin'] : []),
    ];
    return { role: 'owner' as const, words: `${mention(userId)}: ${ways.join(', ')}` };
  });
  return [...owning, ...ROLES.toReversed().flatMap((role) => grants.filter((grant) => grant.role === role))];
}

type RoleRow = Grant | { readonly role: Role; readonly words: string };

function rowBlocks(rows: readonly RoleRow[], page: number): KnownBlock[] {
  return rows.flatMap((row, at) => {
    const isFirst = rows[at - 1]?.role !== row.role;
    return [
      ...(isFirst ? [section(`*${capital(row.role)}s*`)] : []),
      'words' in row ? section(row.words) : grantBlock(row, page),
    ];
  });
}

function grantBlock(grant: Grant, page: number): KnownBlock {
  const confirm = confirmation({
    title: 'Revoke this role?',
    text: `${plainRole(grant)}. Revoking takes effect immediately.`,
    confirm: 'Revoke',
    isDangerous: true,
  });
  const label = `Revoke ${grant.role}`;
  const revoke = revokeButton.element('Revoke', { grantId: grant.id, page }, { label, confirm });
  return section(describeGrant(grant), revoke);
}

const KINDS: Readonly<Record<Grant['subjectKind'], string>> = {
  user: '',
  group: 'Group ',
  channel: 'Full members in ',
};

/** "Group @oncall: `web-*`, until 14:00", and who granted it. */
function describeGrant(grant: Grant): string {
  const { subjectKind, pattern, until, grantedBy, grantedAt } = grant;
  const servers = pattern === EVERY_SERVER ? 'all servers' : codeLabel(pattern, 60);
  const time = until === undefined ? '' : `, until ${slackDate(until)}`;
  const who = `${KINDS[subjectKind]}${describeGrantee(grant)}: ${servers}${time}`;
  return `${who}\nGranted by ${mention(grantedBy)}, ${slackDate(grantedAt)}`;
}
