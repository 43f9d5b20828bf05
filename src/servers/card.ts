import type { ActionsBlock, Button, KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { describeActOnIt } from '../account/audit-sentence.ts';
import type { StoredEntry } from '../core/audit-entry.ts';
import { defineUseCase } from '../core/entry.ts';
import type { ServerId } from '../core/ids.ts';
import { type Role, roleCovers, strongestRole } from '../core/roles.ts';
import { isDeleted, isNoteOf, powerActionsIn, type Server, type ServerNote } from '../core/server.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.ts';
import type { OnWait } from '../hosting/hosting-api.ts';
import { renewButton } from '../purchases/catalog.ts';
import { type CreatedServer, findOrderOf } from '../purchases/costs.ts';
import { actions, confirmation, context, facts, header, type Message, section } from '../slack/kit/blocks.ts';
import { defineButton, defineChoice } from '../slack/kit/button.ts';
import { defineCommand, parseServerName, type Shortcut } from '../slack/kit/command.ts';
import type { Origin } from '../slack/kit/form.ts';
import {
  count,
  escapeText,
  mention,
  plainLabel,
  slackDate,
  slackDay,
  stateWords,
  utcDate,
} from '../slack/kit/text.ts';
import { cardView } from '../slack/kit/views.ts';
import { sendWaiting } from '../slack/reply.ts';
import type { SlackRequest } from '../slack/request.ts';
import {
  deleteButton,
  noteButton,
  powerElement,
  protectButton,
  showButton,
  unprotectButton,
} from './buttons.ts';
import { chooseServer, getServer, offerServers, pickChoice, type ServerRef, suggestServers } from './find.ts';
import { collectParts, findMentioned } from './mentioned.ts';
import type { Protection } from './notes.ts';
import { describePaidUntil, describePlace, serverLine } from './words.ts';

/** What one user may know about one server. */
export interface ServerCard {
  readonly server: Server;
  /** The actor's role for this server; the card has only buttons that the role covers. */
  readonly role?: Role;
  readonly protection?: Protection;
  readonly note?: ServerNote;
  /** The order, if it was placed with this app. */
  readonly created?: CreatedServer;
  /** The last finished action on the server with this app. */
  readonly last?: StoredEntry;
}

/**
 * Reads one server and what this app stores about it: role, protection, note, order, last action.
 * @throws Refusal as `getServer` does; HostingError
 */
export const showServer = defineUseCase({
  name: 'show',
  needs: 'viewer',
  needsAllRoles: true,
  effect: 'reads',
  run: async (
    { ref, onWait, isFresh }: { ref: ServerRef; onWait?: OnWait | undefined; isFresh?: boolean },
    context,
  ): Promise<ServerCard> => {
    const freshness = isFresh ? ('fresh' as const) : undefined;
    const server = await getServer(ref, context, { onWait, freshness });
    const { actor, app } = context;
    const { workspaceId } = actor;
    const [{ protection, note: noted }, created, last] = await Promise.all([
      app.serverNotes.findAll(workspaceId, server.id),
      findOrderOf(server, context),
      app.audit.findLast({ workspaceId, serverId: server.id, actions: ON_CARD, outcomes: ENDED }),
    ]);
    const note = noted && isNoteOf(noted, server) ? noted : undefined;
    const role = strongestRole(context.roles, server.label);
    return { server, role, protection, note, created, last };
  },
});

/** Reads one server and renders its card. @throws as `showServer` */
export async function loadCard(
  input: Parameters<typeof showServer.run>[0],
  request: SlackRequest,
): Promise<Message> {
  return serverCard(await request.execute(showServer, input), request.now());
}

/** Actions that a card mentions. Who viewed what is shown only in the audit, to owners. */
const ON_CARD = ['create', 'renew', 'start', 'stop', 'reboot', 'delete', 'protect', 'unprotect'] as const;
/** Without beginnings and denied attempts. */
const ENDED = ['done', 'failed', 'in_doubt'] as const;

/**
 * Renders a server with the buttons that this user may press now. `isAsked`: the user has just chosen this very server, so that its
 * card is the question, and only Stop asks once more.
 */
export function serverCard(card: ServerCard, now: number, isAsked = false): Message {
  const { server, protection, note } = card;
  const label = escapeText(plainLabel(server.label));
  const paid = server.paidUntil === undefined ? 'unknown' : utcDate(server.paidUntil).slice(0, 10);
  return {
    text: `${label}: ${stateWords(server)}, paid until ${paid}`,
    blocks: [
      header(plainLabel(server.label, 140)),
      section(describePlace(server)),
      facts(factsOf(card, now)),
      ...(protection
        ? [
            section(
              `🔒 Protected by ${mention(protection.protectedBy)}: it can’t be stopped, rebooted or deleted.`,
            ),
          ]
        : []),
      ...(note ? [section(noteWords(note))] : []),
      ...history(card),
      cardButtons(card, isAsked),
    ],
  };
}

function noteWords({ text, contact, notedBy, notedAt }: ServerNote): string {
  const lines = [
    ...(text ? [`*Note:* ${escapeText(text)}`] : []),
    ...(contact ? [`*Contact:* ${mention(contact)}`] : []),
    `_Noted by ${mention(notedBy)}, ${slackDay(notedAt)}_`,
  ];
  return lines.join('\n');
}

function factsOf({ server, created }: ServerCard, now: number): readonly (readonly [string, string])[] {
  const order = created && [created.order.plan, created.order.location, created.order.image].join(' · ');
  return [
    ['Paid until', describePaidUntil(server, now)],
    ...(order ? [['Ordered as', escapeText(plainLabel(order, 150))] as const] : []),
    ['ID', String(server.id)],
  ];
}

function history({ created, last }: ServerCard): KnownBlock[] {
  const lines = [
    ...(created ? [`Created by ${mention(created.creatorId)}, ${slackDate(created.createdAt)}`] : []),
    ...(last && last.action !== 'create'
      ? [`Last action: ${describeActOnIt(last)}, ${slackDate(last.at)}`]
      : []),
  ];
  return lines.length > 0 ? [context(lines.join('\n'))] : [];
}

/** Buttons that the role covers and the state allows. The permission check at the press is what counts (docs/design.md 2.6). */
function cardButtons(card: ServerCard, isAsked: boolean) {
  const { server, role, protection } = card;
  const value = { id: server.id, on: 'card' as const };
  const may = (needed: Role) => roleCovers(role, needed) && !isDeleted(server);
  const power = may('operator') ? powerActionsIn(server) : [];
  const name = plainLabel(server.label, 60);
  return actions(
    ...power
      .filter((action) => !protection || action === 'start')
      .map((action) => powerElement(action, server, { on: 'card', isSure: isAsked && action !== 'stop' })),
    ...(may('manager') ? [renewButton.element('Renew…', { id: server.id }, { label: `Renew ${name}` })] : []),
    ...(may('manager') && !protection
      ? [deleteButton.element('Delete…', value, { label: `Delete ${name}`, style: 'danger' })]
      : []),
    ...(may('operator') ? [noteButton.element('Note…', value, { label: `Note on ${name}` })] : []),
    showButton.element('Refresh', value, { label: `Refresh ${name}` }),
    ...(may('owner') ? [protectionButton(card)] : []),
  );
}

function protectionButton({ server, protection }: ServerCard): Button {
  const value = { id: server.id, on: 'card' as const };
  const name = plainLabel(server.label, 40);
  if (!protection) return protectButton.element('Protect', value, { label: `Protect ${name}` });
  const confirm = confirmation({
    title: 'Lift the protection?',
    text: `Operators can stop and reboot ${name} again, and managers can delete it.`,
    confirm: 'Lift protection',
  });
  return unprotectButton.element('Lift protection', value, { label: `Lift protection on ${name}`, confirm });
}

const matchButton = defineButton('manage_match', z.object({ id: z.number().int() }));
/** Finds any server by typing, in the modal of a shortcut. */
const findChoice = defineChoice('find_server');
/** The choices of the menu **Find another server**. */
export const findSuggestions = suggestServers(findChoice.id, chooseServer.show);

export const show = defineCommand({
  name: 'show',
  usage: 'show [server]',
  example: 'show web-1',
  summary: 'Show a server with its buttons',
  needs: 'viewer',
  parse: parseServerName,
  run: (input, request) =>
    offerServers('show', input, request, async (ref) => {
      await request.reply.send(await loadCard({ ref, onWait: sendWaiting(request) }, request));
    }),
  actions: [
    showButton.on(({ id, on }, request) =>
      on ? showInCard(id, request, { isFresh: true }) : showById(id, request),
    ),
    pickChoice.show.on((id, request) => showById(Number(id), request)),
    matchButton.on(({ id }, request) => showInCard(id, request)),
    findChoice.on((id, request) => showInCard(Number(id), request)),
  ],
  suggestions: [suggestServers(pickChoice.show.id, chooseServer.show), findSuggestions],
});

export async function showById(id: ServerId, request: SlackRequest): Promise<void> {
  await request.reply.send(await loadCard({ ref: { id } }, request));
}

/** Answers a button or a menu on a card, or in the modal of a shortcut, with the server's card in its place. */
async function showInCard(
  id: ServerId,
  request: SlackRequest,
  { isFresh } = { isFresh: false },
): Promise<void> {
  await request.reply.replace(await loadCard({ ref: { id }, isFresh }, request));
}

/** The shortcut on a message: shows the server that it mentions, or a choice. Never acts by itself (docs/design.md 2.9). */
const manageServer: Shortcut = {
  id: 'manage_server',
  type: 'message',
  name: 'Manage server…',
  title: 'Manage server',
  needs: findMentioned,
  load: async (message, request, origin) => {
    const { servers, isOnly } = await request.execute(findMentioned, { parts: collectParts(message) });
    const now = request.now();
    const age = describeAge(message, now);
    const [only] = servers;
    if (!only || servers.length > 1) return matchesView(servers, age, origin, now);
    const card = await request.execute(showServer, { ref: { id: only.id } });
    // An older alert may be over: its card asks as every card does.
    const isRecent = (findAge(message, now) ?? HOUR_MS) < HOUR_MS;
    return mentionedView(card, age, origin, now, isOnly && isRecent);
  },
};

/** The global shortcut: finds a server, recently used ones first. */
const findServer: Shortcut = {
  id: 'servers',
  type: 'global',
  name: 'Servers',
  title: 'Servers',
  needs: chooseServer.show,
  load: async (_message, request, origin) =>
    findView(await request.execute(chooseServer.show, {}), origin, request.now()),
};

/** The app's shortcuts, as the manifest lists them. */
export const shortcuts: readonly Shortcut[] = [manageServer, findServer];

export const MANAGE_TITLE = 'Manage server';

/** Mentioned servers shown; more are found by typing. */
const MATCHES_SHOWN = 10;
const RECENT_SHOWN = 5;

/** Renders a server's card in a modal. `age`: a sentence about the age of the message that mentions it, if any. */
export function mentionedView(
  card: ServerCard,
  age: string | undefined,
  origin: Origin,
  now: number,
  isAsked = false,
): ModalView {
  const { blocks } = serverCard(card, now, isAsked);
  return cardView(MANAGE_TITLE, origin, { blocks, kept: [...aged(age), finder()] });
}

/** Renders the servers that a message mentions, to choose one. Without any, offers to find one. */
export function matchesView(
  servers: readonly Server[],
  age: string | undefined,
  origin: Origin,
  now: number,
): ModalView {
  const words =
    servers.length === 0
      ? 'No server found in this message. Find one by its label, ID or IPv4 address:'
      : `This message mentions ${count(servers.length, 'server')}. Which one?`;
  const rest = servers.length - MATCHES_SHOWN;
  const blocks = [
    section(words),
    ...lines(servers.slice(0, MATCHES_SHOWN), now),
    ...(rest > 0 ? [context(`${count(rest, 'more server')}: type to find them.`)] : []),
  ];
  return cardView(MANAGE_TITLE, origin, { blocks, kept: [finder(), ...aged(age)] });
}

/** Renders the first servers of a list, and a menu to find any other. */
export function findView(servers: readonly Server[], origin: Origin, now: number): ModalView {
  if (servers.length === 0)
    return cardView('Servers', origin, { blocks: [section('There are no servers to choose from.')] });
  const blocks = [section('Which server?'), ...lines(servers.slice(0, RECENT_SHOWN), now)];
  return cardView('Servers', origin, { blocks, kept: [finder()] });
}

function lines(servers: readonly Server[], now: number): KnownBlock[] {
  return servers.map((server) => {
    const label = `Manage ${plainLabel(server.label, 60)}`;
    return section(serverLine(server, now), matchButton.element('Manage', { id: server.id }, { label }));
  });
}

function finder(): ActionsBlock {
  return actions(findChoice.typeAhead('Find another server'));
}

function aged(age: string | undefined): KnownBlock[] {
  return age === undefined ? [] : [context(age)];
}

const sentMessage = z.object({ ts: z.string().regex(/^\d{1,12}\.\d+$/) });

/** The age of a message in milliseconds; undefined if it has no time. */
function findAge(message: unknown, now: number): number | undefined {
  const ts = sentMessage.safeParse(message).data?.ts;
  return ts === undefined ? undefined : now - Number(ts) * 1000;
}

/** Says how old a message is, since an alert may have been handled hours ago. Undefined if the message has no time. */
export function describeAge(message: unknown, now: number): string | undefined {
  const ms = findAge(message, now);
  if (ms === undefined) return undefined;
  if (ms < MINUTE_MS) return 'The message is less than a minute old.';
  if (ms < HOUR_MS) return `The message is ${Math.floor(ms / MINUTE_MS)} min old.`;
  const [amount, unit] = ms < 2 * DAY_MS ? [ms / HOUR_MS, 'h'] : [ms / DAY_MS, 'days'];
  return `:warning: The message is ${Math.floor(amount)} ${unit} old.`;
}
