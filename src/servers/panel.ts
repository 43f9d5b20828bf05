import type { Button, KnownBlock } from '@slack/types';
import { requestAccessButton } from '../access/buttons.ts';
import { connectButton } from '../account/buttons.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { type HostingError, isExpected, isRefusal, type Refusal } from '../core/errors.ts';
import { findRoles } from '../core/permission.ts';
import { coversRole, type HeldRoles, type Role, roleCovers, strongestRole } from '../core/roles.ts';
import { colorOf, isDeleted, type ListExtent, type Server } from '../core/server.ts';
import { WEEK_MS } from '../core/time.ts';
import { createButton, decideButton, passwordButton, renewButton } from '../purchases/buttons.ts';
import { labelOf, type Operation } from '../purchases/operation.ts';
import { listDecidable, readDecidable } from '../requests/approval.ts';
import { waitingBlocks } from '../requests/approval-card.ts';
import { actions, context, type Message, section, textMessage } from '../slack/kit/blocks.ts';
import type { ActionHandler } from '../slack/kit/button.ts';
import { codeLabel, count, plainLabel, slackDate } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { wordsOfError } from '../words.ts';
import { approvalsButton, listButton, manageChoice, showButton } from './buttons.ts';
import { listRecentIds, sortRecentFirst } from './find.ts';
import { NO_SERVERS, serverLine } from './words.ts';

type Context = UseCaseContext;

/** The control panel of one user: the servers that matter now, and what waits for them. */
export interface Panel {
  /** The actor's highest role; absent for none. */
  readonly role?: Role;
  readonly servers: PanelServers;
  /** Confirmed orders without an outcome yet, for servers that the actor may see. */
  readonly open: readonly Operation[];
  /** Servers whose root password the actor has not saved. */
  readonly unsaved: readonly { readonly id: number; readonly label: string }[];
  /** How many requests the actor may approve or deny. */
  readonly approvals: number;
}

/** The servers in the control panel, or why there are none. */
export type PanelServers =
  | { readonly kind: 'no_role' }
  /** No API key is connected yet. */
  | { readonly kind: 'not_connected' }
  | { readonly kind: 'failed'; readonly error: HostingError | Refusal }
  /** The most important servers first; `total` counts all that the actor may see. */
  | {
      readonly kind: 'listed';
      readonly shown: readonly PanelServer[];
      readonly total: number;
      readonly extent: ListExtent;
    };

interface PanelServer {
  readonly server: Server;
  readonly role: Role | undefined;
  readonly isExpiring: boolean;
}

/** Few enough to read on a phone. */
const SHOWN = 5;

/** Reads the control panel. Everyone gets one, limited to what their roles cover. */
const readPanel = defineUseCase({
  name: 'panel',
  needs: 'anyone',
  effect: 'reads',
  run: async (_input: Record<never, never>, context): Promise<Panel> => {
    const { actor, app } = context;
    const roles = await findRoles(actor, app);
    const [servers, open, held, approvals] = await Promise.all([
      readServers(roles, context),
      app.ledger.listOpen(actor.workspaceId),
      app.passwords.listHeld(actor.workspaceId),
      listDecidable(roles, context),
    ]);
    const mine = held.filter(({ creatorId }) => creatorId === actor.userId);
    return {
      servers,
      open: open.filter(({ purchase }) => coversRole(roles, 'viewer', labelOf(purchase))),
      unsaved: mine.map(({ serverId: id, label }) => ({ id, label })),
      approvals: approvals.length,
      role: strongestRole(roles),
    };
  },
});

async function readServers(roles: HeldRoles, context: Context): Promise<PanelServers> {
  if (!coversRole(roles, 'viewer')) return { kind: 'no_role' };
  try {
    const hosting = await context.hosting();
    const [list, recent] = await Promise.all([hosting.fetchServers(), listRecentIds(context)]);
    const servers = list.servers.filter(
      (server) => coversRole(roles, 'viewer', server.label) && !isDeleted(server),
    );
    const now = context.app.system.now();
    const sorted = sortRecentFirst(servers, recent).map((server) => ({ server, ...judge(server, now) }));
    sorted.sort((a, b) => a.rank - b.rank);
    const shown = sorted.slice(0, SHOWN).map(({ server, isExpiring }) => ({
      server,
      isExpiring,
      role: (['owner', 'manager', 'operator', 'viewer'] as const).find((role) =>
        coversRole(roles, role, server.label),
      ),
    }));
    return { kind: 'listed', shown, total: servers.length, extent: list.extent };
  } catch (error) {
    if (isRefusal(error, 'no_api_key')) return { kind: 'not_connected' };
    if (isExpected(error)) return { kind: 'failed', error };
    throw error;
  }
}

/** Ranks a server: failed or changing state (0), paid time ends within a week (1), any other (2). */
function judge(server: Server, now: number): { readonly rank: number; readonly isExpiring: boolean } {
  const color = colorOf(server);
  const isExpiring = server.paidUntil !== undefined && server.paidUntil - now < WEEK_MS;
  const isUnsettled = color === 'yellow' || color === 'red';
  return { rank: isUnsettled ? 0 : isExpiring ? 1 : 2, isExpiring };
}

/** Answers a bare `/vps` with the control panel. */
export async function showPanel(request: SlackRequest): Promise<void> {
  const panel = await request.execute(readPanel, {});
  await request.reply.send(panelMessage(panel, request));
}

/** Few enough for the 50 blocks of a message. */
const APPROVALS_SHOWN = 10;

/** The buttons of the control panel that belong to no other feature. */
export const panelActions: readonly ActionHandler[] = [
  approvalsButton.on(async (_value, request) => {
    const pending = await request.execute(readDecidable, {});
    const shown = pending.slice(0, APPROVALS_SHOWN);
    const words =
      pending.length === 0
        ? 'No approvals are waiting for you.'
        : `*Waiting for your approval*${pending.length > shown.length ? ` (the oldest ${shown.length} of ${pending.length})` : ''}`;
    const each = shown.flatMap((approval) =>
      waitingBlocks({ approval, canAnswer: true, isOwn: false }, request.currency),
    );
    await request.reply.send(textMessage(words, ...each));
  }),
];

type ListedServers = Extract<PanelServers, { kind: 'listed' }>;
type Rendering = Pick<SlackRequest, 'now' | 'currency'>;

/** Renders the control panel with the buttons that this user may press. */
export function panelMessage(panel: Panel, { now, currency }: Rendering): Message {
  const blocks = [
    ...waitingSection(panel),
    ...openBlocks(panel),
    ...serverBlocks(panel, now(), currency),
    context('`/vps help` lists all commands.'),
  ];
  return { text: 'Your servers', blocks };
}

function waitingSection({ unsaved, approvals }: Panel): KnownBlock[] {
  const [first] = unsaved;
  const typed = unsaved.length === 1 && first ? String(first.id) : '';
  const whose = unsaved.length === 1 && first ? ` of ${codeLabel(first.label, 40)}` : 's';
  return [
    ...(first
      ? [
          section(
            `🔑 You haven’t saved the root password${whose}${unsaved.length > 1 ? ` of ${count(unsaved.length, 'server')}` : ''}.`,
            passwordButton.element('Show password', { typed }),
          ),
        ]
      : []),
    ...(approvals > 0
      ? [
          section(
            `✋ ${count(approvals, 'request')} waiting for your approval.`,
            approvalsButton.element('Review', {}),
          ),
        ]
      : []),
  ];
}

/** Open orders shown; `/vps status` has more. */
const OPEN_SHOWN = 3;

function openBlocks({ open, role }: Panel): KnownBlock[] {
  const shown = open.slice(0, OPEN_SHOWN);
  const rest = open.length - shown.length;
  const isManager = roleCovers(role, 'manager');
  return [
    ...shown.map((operation) => section(openWords(operation), decideElement(operation, isManager))),
    ...(rest > 0 ? [context(`${count(rest, 'more unconfirmed order')}: see \`/vps status\`.`)] : []),
  ];
}

function openWords({ purchase, needsDecision, createdAt }: Operation): string {
  const doing = purchase.kind === 'create' ? 'creating' : 'renewing';
  const stands = needsDecision ? 'needs a decision' : 'not confirmed yet';
  return `🟡 ${codeLabel(labelOf(purchase), 40)} · ${doing}, ${stands} (since ${slackDate(createdAt)})`;
}

function decideElement({ id, purchase, needsDecision }: Operation, isManager: boolean): Button | undefined {
  if (!needsDecision || !isManager) return undefined;
  const label = `Decide about ${plainLabel(labelOf(purchase), 40)}`;
  return decideButton.element('Decide…', { operationId: id }, { label });
}

function serverBlocks({ servers, role }: Panel, now: number, currency: string): KnownBlock[] {
  switch (servers.kind) {
    case 'no_role':
      return [
        section('You don’t have a role yet, so you can’t see any servers. Ask an owner for one.'),
        actions(requestAccessButton.element('Ask for access', { role: 'viewer' }, { style: 'primary' })),
      ];
    case 'not_connected':
      return notConnected(role === 'owner');
    case 'failed':
      return [section(wordsOfError(servers.error, currency)), actions(listButton.element('Try again', {}))];
    case 'listed':
      return listed(servers, roleCovers(role, 'manager'), now);
  }
}

function notConnected(isOwner: boolean): KnownBlock[] {
  if (!isOwner)
    return [section('The hosting account isn’t connected yet. An owner can do that with `/vps connect`.')];
  return [
    section(
      'To get started, connect your hosting account: create an API key on its page, then enter it in a secure form outside Slack.',
    ),
    actions(connectButton.element('Connect…', {}, { style: 'primary' })),
  ];
}

function listed({ shown, total, extent }: ListedServers, isManager: boolean, now: number): KnownBlock[] {
  const create = isManager ? [createButton.element('Create a server…', {})] : [];
  if (total === 0)
    return [
      section(extent === 'whole' ? 'There are no servers in the hosting account yet.' : NO_SERVERS),
      ...(create.length > 0 ? [actions(...create)] : []),
    ];
  const more = total > shown.length ? [context(`Showing ${shown.length} of ${count(total, 'server')}.`)] : [];
  const all = listButton.element('All servers', {});
  return [
    ...shown.map((each) => section(serverLine(each.server, now), serverElement(each))),
    ...more,
    actions(...(total > shown.length ? [manageChoice.typeAhead('Find a server')] : []), all, ...create),
  ];
}

/** The button of a row: **Renew…** if the paid time ends soon and the role covers it, otherwise **Manage**. */
function serverElement({ server: { id, label }, role, isExpiring }: PanelServer): Button {
  const name = plainLabel(label, 60);
  if (isExpiring && roleCovers(role, 'manager'))
    return renewButton.element('Renew…', { id }, { label: `Renew ${name}` });
  return showButton.element('Manage', { id }, { label: `Manage ${name}` });
}
