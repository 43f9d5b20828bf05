import type { Button, KnownBlock } from '@slack/types';
import { z } from 'zod';
import { settingsButton } from '../account/buttons.ts';
import { type Role, roleCovers } from '../core/roles.ts';
import { type PowerAction, powerActionsIn, type Server } from '../core/server.ts';
import { createButton, renewButton } from '../purchases/buttons.ts';
import { requestAccessButton } from '../requests/role-request-card.ts';
import { confirmPower } from '../servers/buttons.ts';
import { NO_SERVERS, serverLine } from '../servers/words.ts';
import { actions, context, header, partOfList, section } from '../slack/kit/blocks.ts';
import { defineButton, defineChoice } from '../slack/kit/button.ts';
import { steady } from '../slack/kit/home-view.ts';
import { definePages } from '../slack/kit/pages.ts';
import { count, describeNumber, plainLabel, slackDate } from '../slack/kit/text.ts';
import { VERBS, wordsOfError } from '../words.ts';
import type { HomeServer, HomeServers, ListedServers } from './read-home.ts';

const server = z.object({ id: z.number().int() });

/** The power buttons of a server's row. Home shows the outcome. */
export const homePower = {
  start: defineButton('home_start', server),
  stop: defineButton('home_stop', server),
  reboot: defineButton('home_reboot', server),
} as const;

/** Opens the card of a server above Home. */
export const homeManageButton = defineButton('home_manage', server);
/** Finds a server by typing, and opens its card. */
export const homeFindChoice = defineChoice('home_find');

export const homePages = definePages('home');
export const homeRefreshButton = defineButton('home_refresh', z.object({}));

interface Rendering {
  readonly now: number;
  readonly currency: string;
  readonly role: Role | undefined;
  readonly hasAsked: boolean;
}

export const ROLE_UNKNOWN =
  'Slack didn’t confirm who you are, so your role is unknown. Try again in a moment.';
const NO_ROLE = 'You don’t have a role yet, so you can’t see any servers.';

/** Says that the user has no role, and offers to ask for one. */
export function noRoleBlocks(hasAsked: boolean): KnownBlock[] {
  if (hasAsked) return [section(`${NO_ROLE} An owner has to answer your request first.`)];
  return [
    section(`${NO_ROLE} Ask an owner for one.`),
    actions(requestAccessButton.element('Ask for access', { role: 'viewer' }, { style: 'primary' })),
  ];
}

export function serverBlocks(servers: HomeServers, rendering: Rendering): KnownBlock[] {
  const { hasAsked } = rendering;
  switch (servers.kind) {
    case 'no_role':
      return [header('No access yet'), ...noRoleBlocks(hasAsked)];
    case 'role_unknown':
      return [section(ROLE_UNKNOWN), actions(refresh('Try again'))];
    case 'not_connected':
      return [];
    case 'unread':
      if (!servers.error) return [header('Servers'), section('Loading servers…')];
      return [
        header('Servers'),
        section(
          `⚠️ ${wordsOfError(servers.error, rendering.currency)}\nYour servers can’t be shown right now.`,
        ),
        actions(refresh('Try again')),
      ];
    case 'listed':
      return listed(servers, rendering);
  }
}

function listed(servers: ListedServers, rendering: Rendering): KnownBlock[] {
  const { shown, total, urgent } = servers;
  const create = roleCovers(rendering.role, 'manager')
    ? [createButton.element('Create a server…', {}, total === 0 ? { style: 'primary' } : {})]
    : [];
  const settings = roleCovers(rendering.role, 'owner') ? [settingsButton.element('Settings…', {})] : [];
  const heading = [header(total === 0 ? 'Servers' : `Servers (${describeNumber(total)})`)];
  if (total === 0)
    return [
      ...heading,
      ...cautions(servers, rendering.currency),
      ...(servers.stale === 'reading' ? [] : [section(NO_SERVERS)]),
      actions(...create, ...settings, refresh()),
    ];
  const attention =
    urgent === 0
      ? 'No server needs attention.'
      : `${urgent === 1 ? '1 server needs' : `${urgent} servers need`} attention; most urgent first.`;
  return [
    ...heading,
    ...cautions(servers, rendering.currency),
    ...(total > shown.length ? [steady('find', actions(homeFindChoice.typeAhead('Find a server')))] : []),
    context(`${attention}${rangeWords(servers)}`),
    ...shown.flatMap((each) => row(each, rendering.now)),
    steady('controls', actions(...homePages.buttons(servers), ...create, ...settings, refresh())),
  ];
}

/** Says whether the list is incomplete, and how old it is if no newer one could be read. */
export function cautions(
  { stale, isComplete, readAt, total }: ListedServers,
  currency: string,
): KnownBlock[] {
  const part = isComplete ? [] : [partOfList()];
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

function powerElement(action: PowerAction, server: Server): Button {
  const { title } = VERBS[action];
  const label = `${title} ${plainLabel(server.label, 40)}`;
  const confirm = confirmPower(action, [server]);
  return homePower[action].element(title, { id: server.id }, { label, confirm });
}

/** "Hosting account connected · 3 servers · updated …", for the last line; undefined without a list. */
export function accountWords(servers: HomeServers): string | undefined {
  if (servers.kind !== 'listed') return undefined;
  const { stale, total, readAt } = servers;
  const answers = stale === undefined ? '✅ Hosting account connected' : '⏳ Hosting account connected';
  // There may be servers by now.
  const counted = stale !== undefined && total === 0 ? [] : [count(total, 'server')];
  return [answers, ...counted, `updated ${slackDate(readAt)}`].join(' · ');
}
