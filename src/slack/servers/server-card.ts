import type { Button, KnownBlock } from '@slack/types';
import type { ServerCard } from '../../app/servers/show-server.ts';
import { type Role, roleCovers } from '../../domain/actor.ts';
import { isDeleted, type PowerAction, type Server } from '../../domain/server.ts';
import type { ServerNote } from '../../domain/server-note.ts';
import { powerActionsIn } from '../../domain/server-state.ts';
import { actions, confirmation, context, facts, header, type Message, section } from '../kit/blocks.ts';
import { stateWords } from '../kit/server-state.ts';
import { escapeText, mention, plainLabel, slackDate, slackDay, utcDate } from '../kit/text.ts';
import { renewButton } from '../purchases/buttons.ts';
import { deleteButton, powerButton, protectButton, showButton, unprotectButton } from './buttons.ts';
import { confirmPower } from './confirm-dialogs.ts';
import { describePaidUntil, describePlace } from './describe-server.ts';
import { describeLast } from './last-action.ts';
import { VERBS } from './verbs.ts';

/** One server with what this user may do with it now. */
export function serverCard(card: ServerCard, now: number): Message {
  const { server, protection, note } = card;
  const label = escapeText(plainLabel(server.label));
  const paid = server.paidUntil === undefined ? 'unknown' : utcDate(server.paidUntil).slice(0, 10);
  return {
    text: `${label}: ${stateWords(server)}, paid until ${paid}`,
    blocks: [
      header(plainLabel(server.label, 140)),
      section(describePlace(server)),
      facts(factsOf(card, now)),
      ...(protection ? [section(protectionWords(protection.protectedBy))] : []),
      ...(note ? [section(noteWords(note))] : []),
      ...history(card),
      cardButtons(card),
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

function protectionWords(by: string): string {
  return `🔒 Protected by ${mention(by)}: it can’t be stopped, rebooted or deleted.`;
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
    ...(created ? [`Created by ${mention(created.by)}, ${slackDate(created.at)}`] : []),
    ...(last && last.action !== 'create' ? [describeLast(last)] : []),
  ];
  return lines.length > 0 ? [context(lines.join('\n'))] : [];
}

/** The buttons that this user may press and that fit the state; what counts is the check at the press. */
function cardButtons(card: ServerCard) {
  const { server, role, protection } = card;
  const value = { id: server.id, on: 'card' as const };
  const may = (needed: Role) => roleCovers(role, needed) && !isDeleted(server);
  const power = may('operator') ? powerActionsIn(server) : [];
  const name = plainLabel(server.label, 60);
  return actions(
    ...power.filter((action) => !protection || action === 'start').map((action) => cardPower(action, server)),
    ...(may('manager') ? [renewButton.element('Renew…', { id: server.id }, { label: `Renew ${name}` })] : []),
    ...(may('manager') && !protection
      ? [deleteButton.element('Delete…', value, { label: `Delete ${name}`, style: 'danger' })]
      : []),
    showButton.element('Refresh', value, { label: `Refresh ${name}` }),
    ...(may('owner') ? [protectionButton(card)] : []),
  );
}

function cardPower(action: PowerAction, server: Server): Button {
  const { title } = VERBS[action];
  const label = `${title} ${plainLabel(server.label, 40)}`;
  const confirm = confirmPower(action, server);
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
