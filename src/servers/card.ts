import type { Button, KnownBlock } from '@slack/types';
import { describeActOnIt } from '../account/audit-sentence.ts';
import type { StoredEntry } from '../core/audit-entry.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { matchesPattern } from '../core/labels.ts';
import { type Role, roleCovers, strongestRole } from '../core/roles.ts';
import {
  isDeleted,
  isNoteOf,
  type PowerAction,
  powerActionsIn,
  type Server,
  type ServerNote,
} from '../core/server.ts';
import type { OnWait } from '../hosting/hosting-api.ts';
import { renewButton } from '../purchases/buttons.ts';
import { type CreatedServer, findOrderOf } from '../purchases/costs.ts';
import { actions, confirmation, context, facts, header, type Message, section } from '../slack/kit/blocks.ts';
import {
  escapeText,
  mention,
  plainLabel,
  slackDate,
  slackDay,
  stateWords,
  utcDate,
} from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { VERBS } from '../words.ts';
import {
  confirmPower,
  deleteButton,
  noteButton,
  powerButton,
  protectButton,
  showButton,
  unprotectButton,
} from './buttons.ts';
import { getServer, type ServerRef } from './find.ts';
import type { Protection } from './notes.ts';
import { describePaidUntil, describePlace } from './words.ts';

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
      findLast(server, context),
    ]);
    const note = noted && isNoteOf(noted, server) ? noted : undefined;
    const role = strongestRole(context.roles.filter(({ pattern }) => matchesPattern(pattern, server.label)));
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
/** Codes of attempts that were refused, or only asked about, before anything was done to the server. */
const DID_NOTHING = [
  'prefix_only',
  'rebooted_recently',
  'server_protected',
  'label_differs',
  'already_handled',
];

async function findLast({ id: serverId }: Server, { actor, app }: UseCaseContext) {
  const { workspaceId } = actor;
  const entries = await app.audit.list({ workspaceId, serverId, actions: ON_CARD, limit: 20 });
  return entries.find(
    ({ outcome, code = '' }) => !['started', 'denied'].includes(outcome) && !DID_NOTHING.includes(code),
  );
}

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
      .map((action) => cardPower(action, server, isAsked)),
    ...(may('manager') ? [renewButton.element('Renew…', { id: server.id }, { label: `Renew ${name}` })] : []),
    ...(may('manager') && !protection
      ? [deleteButton.element('Delete…', value, { label: `Delete ${name}`, style: 'danger' })]
      : []),
    ...(may('operator') ? [noteButton.element('Note…', value, { label: `Note on ${name}` })] : []),
    showButton.element('Refresh', value, { label: `Refresh ${name}` }),
    ...(may('owner') ? [protectionButton(card)] : []),
  );
}

function cardPower(action: PowerAction, server: Server, isAsked: boolean): Button {
  const { title } = VERBS[action];
  const label = `${title} ${plainLabel(server.label, 40)}`;
  const confirm = isAsked && action !== 'stop' ? undefined : confirmPower(action, [server]);
  return powerButton[action].element(title, { id: server.id, on: 'card' }, { label, confirm });
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
  return unprotectButton.element('Lift protection', value, { label: `Lift protection of ${name}`, confirm });
}
