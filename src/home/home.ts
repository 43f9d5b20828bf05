import type { Button, KnownBlock } from '@slack/types';
import { z } from 'zod';
import { describeRequest, describeWantedRole } from '../access/words.ts';
import { connectButton } from '../account/connect.ts';
import { settingsButton } from '../account/settings.ts';
import { Refusal } from '../core/errors.ts';
import { type Role, roleCovers } from '../core/roles.ts';
import { powerActionsIn } from '../core/server.ts';
import { createButton, renewButton } from '../purchases/catalog.ts';
import { costsSummary, paidWords } from '../purchases/costs-screen.ts';
import { labelOf, type Operation } from '../purchases/operation.ts';
import { decideButton } from '../purchases/outcomes.ts';
import { passwordButton } from '../purchases/passwords.ts';
import { waitingBlocks } from '../requests/approval-card.ts';
import { answerButtons, requestAccessButton, withdrawAccessButton } from '../requests/role-request-card.ts';
import { powerElement } from '../servers/buttons.ts';
import { findSuggestions, MANAGE_TITLE, mentionedView, showServer } from '../servers/card.ts';
import { noServersWords, serverLine } from '../servers/words.ts';
import type { ShownHome } from '../slack/home-publisher.ts';
import { actions, context, divider, header, partOfList, section } from '../slack/kit/blocks.ts';
import { defineButton, defineChoice, definePages } from '../slack/kit/button.ts';
import type { Handlers } from '../slack/kit/command.ts';
import { defineForm } from '../slack/kit/form.ts';
import { codeLabel, count, describeNumber, escapeText, plainLabel, slackDate } from '../slack/kit/text.ts';
import { type LoadHome, steady } from '../slack/kit/views.ts';
import type { SlackRequest } from '../slack/request.ts';
import { frozenWords, wordsOfError } from '../words.ts';
import { type Home, type HomeServer, type ListedServers, readHome } from './read-home.ts';

const server = z.object({ id: z.number().int() });

/** Opens the card of a server above Home. */
const homeManageButton = defineButton('home_manage', server);
/** Finds a server by typing, and opens its card. */
const homeFindChoice = defineChoice('home_find');

const homePages = definePages('home');
const homeRefreshButton = defineButton('home_refresh', z.object({}));

/** Entries shown of each kind; the rest are only counted. */
const SHOWN = { passwords: 4, approvals: 4, access: 3, orders: 4, own: 3 } as const;

/** Renders what needs this user's attention: unsaved passwords, pending decisions, unconfirmed orders. */
function attentionBlocks(home: Home, currency: string): KnownBlock[] {
  const blocks = [
    ...(home.needsInstall ? [section(NEEDS_INSTALL)] : []),
    ...(home.freeze ? [section(frozenWords({ frozenBy: home.freeze.by, since: home.freeze.since }))] : []),
    ...unsavedBlocks(home.unsaved),
    ...decisionBlocks(home.decisions, currency),
    ...orderBlocks(home.open, home.role),
  ];
  return blocks.length === 0 ? [] : [header('Needs your attention'), ...blocks];
}

const NEEDS_INSTALL =
  '⚠️ Slack won’t renew this app’s token, so the app will stop working within hours. Install it again from its `/slack/install` page.';

export function unsavedBlocks(unsaved: Home['unsaved']): KnownBlock[] {
  const lines = unsaved.slice(0, SHOWN.passwords).map(({ id, label: name }) => {
    const label = `Show the root password of ${plainLabel(name, 40)}`;
    const show = passwordButton.element('Show password', { typed: String(id) }, { label });
    return section(`🔑 The root password of ${codeLabel(name, 40)} isn’t saved yet.`, show);
  });
  return [...lines, ...rest(unsaved.length - lines.length, 'more unsaved root password', '/vps password')];
}

export function decisionBlocks({ approvals, access }: Home['decisions'], currency: string): KnownBlock[] {
  const shown = approvals.slice(0, SHOWN.approvals);
  const asked = access.slice(0, SHOWN.access);
  return [
    ...shown.flatMap((approval) => waitingBlocks(approval, 'decider', currency)),
    ...rest(approvals.length - shown.length, 'more approval', '/vps status'),
    ...asked.flatMap((request) => [section(describeRequest(request)), answerButtons(request.id)]),
    ...rest(access.length - asked.length, 'more role request', '/vps access'),
  ];
}

export function orderBlocks(open: readonly Operation[], role: Role | undefined): KnownBlock[] {
  const shown = open.slice(0, SHOWN.orders);
  return [
    ...shown.map((operation) => {
      const { id, purchase, needsDecision, createdAt } = operation;
      const doing = purchase.kind === 'create' ? 'creating' : 'renewing';
      const stands = needsDecision ? 'a manager has to resolve it' : 'not confirmed yet';
      const name = labelOf(purchase);
      const words = `⏳ ${codeLabel(name, 40)} · ${doing}, ${stands} (since ${slackDate(createdAt)})`;
      if (!needsDecision || !roleCovers(role, 'manager')) return section(words);
      const label = `Resolve the order for ${plainLabel(name, 40)}`;
      return section(words, decideButton.element('Resolve…', { operationId: id }, { label }));
    }),
    ...rest(open.length - shown.length, 'more unconfirmed order', '/vps status'),
  ];
}

function ownBlocks({ approvals, access }: Home['own'], currency: string): KnownBlock[] {
  const shown = approvals.slice(0, SHOWN.own);
  const asked = access.slice(0, SHOWN.own);
  const blocks = [
    ...shown.flatMap((approval) => waitingBlocks(approval, 'requester', currency)),
    ...asked.map((request) =>
      section(
        `You requested the ${describeWantedRole(request)}. Expires ${slackDate(request.expiresAt)}.`,
        withdrawAccessButton.element('Withdraw request', { id: request.id }),
      ),
    ),
    ...rest(approvals.length + access.length - shown.length - asked.length, 'more request', '/vps status'),
  ];
  return blocks.length === 0 ? [] : [header('Your requests'), ...blocks];
}

function rest(amount: number, noun: string, command: string): KnownBlock[] {
  return amount > 0 ? [context(`${count(amount, noun)}: see \`${command}\`.`)] : [];
}

interface Rendering {
  readonly now: number;
  readonly currency: string;
  readonly accountUrl: string | undefined;
  /** The user has never opened Home before. */
  readonly isWelcome: boolean;
}

export function homeBlocks(home: Home, rendering: Rendering): KnownBlock[] {
  const { currency, accountUrl, isWelcome } = rendering;
  const { servers, role } = home;
  const hasRole = servers.kind !== 'no_role' && servers.kind !== 'role_unknown';
  const first = [
    ...(isWelcome ? welcomeBlocks(hasRole) : []),
    ...(servers.kind === 'not_connected' ? setupBlocks(role === 'owner', servers.error, accountUrl) : []),
    ...attentionBlocks(home, currency),
    ...ownBlocks(home.own, currency),
  ];
  return [
    ...first,
    ...(servers.kind === 'listed' && first.length > 0 ? [divider()] : []),
    ...serverBlocks(home, rendering),
    ...spendingBlocks(home, currency),
    ...(hasRole ? [context(footer(home))] : []),
  ];
}

function welcomeBlocks(hasRole: boolean): KnownBlock[] {
  const words = hasRole
    ? 'This tab shows your servers, what needs your attention, and spending. You can also type `/vps` in any channel.'
    : 'With this app, your team runs its virtual servers from Slack.';
  return [header('Welcome to vps'), section(words)];
}

/** Renders an owner's first steps; others read who can connect the account. */
export function setupBlocks(
  isOwner: boolean,
  error: Refusal<'no_api_key'>,
  accountUrl: string | undefined,
): KnownBlock[] {
  if (!isOwner) return [header('Not connected yet'), section(wordsOfError(error, ''))];
  const page = accountUrl === undefined ? 'API keys page' : `<${escapeText(accountUrl)}|account page>`;
  return [
    header('Get started'),
    section(
      `*1. Connect your hosting account.* Create an API key on its ${page}, then enter the key in a secure form outside Slack.`,
    ),
    actions(connectButton.element('Connect…', {}, { style: 'primary' })),
    section(
      '*2. Invite the app* to the channels where your team works: `/invite @vps`\n*3. Give your team access:* `/vps access grant @user operator`',
    ),
  ];
}

export const ROLE_UNKNOWN =
  'Slack didn’t confirm who you are, so your role is unknown. Try again in a moment.';
const NO_ROLE = 'You don’t have a role yet, so you can’t see any servers.';

export function noRoleBlocks(hasAsked: boolean): KnownBlock[] {
  if (hasAsked) return [section(`${NO_ROLE} An owner has to answer your request first.`)];
  return [
    section(`${NO_ROLE} Ask an owner for one.`),
    actions(requestAccessButton.element('Ask for access', { role: 'viewer' }, { style: 'primary' })),
  ];
}

function serverBlocks(home: Home, { now, currency }: Rendering): KnownBlock[] {
  const { servers, own } = home;
  switch (servers.kind) {
    case 'no_role':
      return [header('No access yet'), ...noRoleBlocks(own.access.length > 0)];
    case 'role_unknown':
      return [section(ROLE_UNKNOWN), actions(refresh('Try again'))];
    case 'not_connected':
      return [];
    case 'unread':
      if (!servers.error) return [header('Servers'), section('Loading servers…')];
      return [
        header('Servers'),
        section(`⚠️ ${wordsOfError(servers.error, currency)}\nYour servers can’t be shown right now.`),
        actions(refresh('Try again')),
      ];
    case 'listed':
      return listed(servers, home.role, now, currency);
  }
}

function listed(servers: ListedServers, role: Role | undefined, now: number, currency: string): KnownBlock[] {
  const { shown, total, urgent } = servers;
  const create = roleCovers(role, 'manager')
    ? [createButton.element('Create a server…', {}, total === 0 ? { style: 'primary' } : {})]
    : [];
  const settings = roleCovers(role, 'owner') ? [settingsButton.element('Settings…', {})] : [];
  const heading = [header(total === 0 ? 'Servers' : `Servers (${describeNumber(total)})`)];
  if (total === 0)
    return [
      ...heading,
      ...cautions(servers, currency),
      ...(servers.stale === 'reading' ? [] : [section(noServersWords(servers))]),
      actions(...create, ...settings, refresh()),
    ];
  const attention =
    urgent === 0
      ? 'No server needs attention.'
      : `${urgent === 1 ? '1 server needs' : `${urgent} servers need`} attention; most urgent first.`;
  return [
    ...heading,
    ...cautions(servers, currency),
    ...(total > shown.length ? [steady('find', actions(homeFindChoice.typeAhead('Find a server')))] : []),
    context(`${attention}${rangeWords(servers)}`),
    ...shown.flatMap((each) => row(each, now)),
    steady('controls', actions(...homePages.buttons(servers), ...create, ...settings, refresh())),
  ];
}

/** Says whether the list is incomplete, and how old it is if no newer one could be read. */
export function cautions({ stale, extent, readAt, total }: ListedServers, currency: string): KnownBlock[] {
  const part = extent === 'part' ? [partOfList()] : [];
  if (stale === undefined) return part;
  const since = `as of ${slackDate(readAt)}`;
  if (stale === 'reading')
    return [context(`${total === 0 ? 'No servers' : 'Showing servers'} ${since}. Loading…`), ...part];
  return [section(`⚠️ ${wordsOfError(stale, currency)}\nShowing servers ${since}.`), ...part];
}

function rangeWords({ page, pages, shown, total }: ListedServers): string {
  if (pages === 1) return '';
  const first = page < pages - 1 ? page * shown.length : total - shown.length;
  return ` Showing ${describeNumber(first + 1)}–${describeNumber(first + shown.length)} of ${describeNumber(total)}.`;
}

function refresh(text = 'Refresh'): Button {
  return homeRefreshButton.element(text, {});
}

/** Renders a server's line. A server that needs attention has the buttons that this user may press now; all have **Manage**. */
function row(each: HomeServer, now: number): KnownBlock[] {
  const { server } = each;
  const buttons = rowButtons(each);
  const line = `${serverLine(server, now, each.isExpiring)}${each.isProtected ? ' · 🔒 protected' : ''}`;
  const label = `Manage ${plainLabel(server.label, 60)}`;
  const manage = homeManageButton.element('Manage', { id: server.id }, { label });
  if (buttons.length === 0) return [steady(`server_${server.id}`, section(line, manage))];
  return [section(line), steady(`server_${server.id}`, actions(...buttons, manage))];
}

function rowButtons({ server, role, isUrgent, isExpiring, isProtected }: HomeServer): Button[] {
  if (!isUrgent) return [];
  const power = roleCovers(role, 'operator') ? powerActionsIn(server) : [];
  const allowed = power.filter((action) => !isProtected || action === 'start');
  const buttons = allowed.map((action) => powerElement(action, server));
  if (!isExpiring || !roleCovers(role, 'manager')) return buttons;
  const label = `Renew ${plainLabel(server.label, 60)}`;
  return [...buttons, renewButton.element('Renew…', { id: server.id }, { label })];
}

function spendingBlocks({ spending, servers }: Home, currency: string): KnownBlock[] {
  if (!spending || servers.kind === 'not_connected') return [];
  const { paid, costs } = spending;
  const blocks = costs ? costsSummary(costs, currency) : [section(paidWords(paid, currency))];
  return [divider(), header('Spending'), ...blocks];
}

/** "Hosting account connected · 3 servers · updated …", if there is a list, and where to find more. */
function footer({ servers }: Home): string {
  if (servers.kind !== 'listed') return HELP;
  const { stale, total, readAt } = servers;
  const answers = stale === undefined ? '✅ Hosting account connected' : '⏳ Hosting account connected';
  // There may be servers by now.
  const counted = stale !== undefined && total === 0 ? [] : [count(total, 'server')];
  return [answers, ...counted, `updated ${slackDate(readAt)}`, HELP].join(' · ');
}

export const HELP = '`/vps help` shows what else you can do.';

/** Makes the Home tab, for `slack/home-publisher.ts` to publish. */
export const loadHome: LoadHome = async ({ isWelcome, ...wanted }, request) => {
  const home = await request.execute(readHome, wanted);
  const { servers } = home;
  const { accountUrl, currency } = request;
  return {
    blocks: homeBlocks(home, { now: request.now(), currency, accountUrl, isWelcome }),
    page: servers.kind === 'listed' ? servers.page : 0,
    isComing:
      servers.kind === 'listed' ? servers.stale === 'reading' : servers.kind === 'unread' && !servers.error,
  };
};

/** A server's card in a modal, in which its buttons show their outcome. */
const card = defineForm({
  id: 'home_manage',
  title: MANAGE_TITLE,
  input: server,
  needs: showServer,
  load: async ({ id }, request, origin) => {
    const shown = await request.execute(showServer, { ref: { id } });
    return mentionedView(shown, undefined, origin, request.now());
  },
});

/** The buttons and menus that exist only on Home. */
export const home: Handlers = {
  actions: [
    card.handler,
    homeManageButton.on((input, request) => card.open(input, request)),
    homeFindChoice.on((id, request) => card.open({ id: Number(id) }, request)),
    ...homePages.on(({ page }, request) => show({ page }, request)),
    homeRefreshButton.on((_value, request) => show({ isFresh: true }, request)),
  ],
  modals: [],
  suggestions: [{ ...findSuggestions, id: homeFindChoice.id }],
};

async function show(shown: ShownHome, request: SlackRequest): Promise<void> {
  await request.authorize(readHome);
  // These buttons exist only on Home.
  if (!request.home) throw new Refusal('unreadable_press', {});
  await request.home.show(shown);
}
