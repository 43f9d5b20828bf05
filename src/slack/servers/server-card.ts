import type { ServerCard } from '../../app/servers/show-server.ts';
import type { Operation } from '../../domain/operation.ts';
import type { Server } from '../../domain/server.ts';
import { countPaidDays } from '../../domain/time.ts';
import { findActionWords } from '../account/action-words.ts';
import { actions, confirmation, context, facts, header, type Message } from '../kit/blocks.ts';
import { count, escapeText, mention, plainLabel, slackDate, utcDate } from '../kit/text.ts';
import { renewButton } from '../purchases/buttons.ts';
import { deleteButton, rebootButton, startButton, stopButton } from './buttons.ts';

/** One server with its buttons and its recent history. */
export function serverCard(card: ServerCard, now: number): Message {
  const { server } = card;
  const history = describeHistory(card);
  return {
    text: `${plainText(server.label)}: ${escapeText(server.state)}, paid until ${server.paidUntil ? utcDate(server.paidUntil) : 'unknown'}`,
    blocks: [
      header(plainLabel(server.label, 140)),
      facts([
        ['State', escapeText(server.state)],
        ['IPv4', server.ipv4 ? `\`${escapeText(server.ipv4)}\`` : 'none yet'],
        ['Id', String(server.id)],
        ['Paid until', describePaidUntil(server, now)],
      ]),
      serverButtons(server),
      ...(history ? [context(history)] : []),
    ],
  };
}

/** Stop and reboot ask first: they are easily touched by accident on a phone. Renew and delete open a form. */
function serverButtons(server: Server) {
  const value = { id: server.id };
  const name = plainLabel(server.label, 60);
  return actions(
    startButton.element('Start', value, { label: `Start ${name}` }),
    stopButton.element('Stop', value, {
      label: `Stop ${name}`,
      confirm: confirmation({
        title: 'Stop the server?',
        text: `${plainLabel(server.label, 40)} will be switched off. It stays paid.`,
        confirm: 'Stop',
        isDangerous: true,
      }),
    }),
    rebootButton.element('Reboot', value, {
      label: `Reboot ${name}`,
      confirm: confirmation({
        title: 'Reboot the server?',
        text: `${plainLabel(server.label, 40)} will be away for a moment.`,
        confirm: 'Reboot',
        isDangerous: true,
      }),
    }),
    renewButton.element('Renew…', value, { label: `Renew ${name}` }),
    deleteButton.element('Delete…', value, { label: `Delete ${name}`, style: 'danger' }),
  );
}

/** "21 Dec 2026 (30 days)", in the reader's zone. */
export function describePaidUntil(server: Server, now: number): string {
  if (server.paidUntil === undefined) return 'unknown';
  const days = countPaidDays(server.paidUntil, now);
  const left = server.paidUntil <= now ? 'over' : days === 0 ? 'less than a day' : count(days, 'day');
  return `${slackDate(server.paidUntil)} (${left})`;
}

function describeHistory({ history, operations }: ServerCard): string {
  const made = operations.find(({ purchase }) => purchase.kind === 'create');
  const lines = history.map(
    (entry) =>
      `${slackDate(entry.at)} ${mention(entry.actorId)} ${escapeText(findActionWords(entry.action)?.base ?? entry.action)}: ${entry.outcome.replace('_', ' ')}`,
  );
  if (made) lines.push(describeOrder(made));
  return lines.join('\n');
}

function describeOrder(operation: Operation): string {
  if (operation.purchase.kind !== 'create') return '';
  const { plan, location, image } = operation.purchase.order;
  return escapeText(`Made here: plan ${plan}, ${location}, ${image}`);
}

function plainText(label: string): string {
  return escapeText(plainLabel(label));
}
