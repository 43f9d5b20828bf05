import type { KnownBlock } from '@slack/types';
import type { Digest } from '../../domain/digest.ts';
import { describeMoney } from '../../domain/money.ts';
import { sumCost } from '../../domain/renewal-cost.ts';
import { actions, context, header, type Message, section } from '../kit/blocks.ts';
import { withPartOfList } from '../kit/part-of-list.ts';
import { count, describeNumber, escapeText } from '../kit/text.ts';
import { allRemindersButton, remindersButton, renewAllButton } from './buttons.ts';
import { driftBlocks, expiredBlocks } from './drift-words.ts';
import { dueBlocks } from './due-blocks.ts';
import { type DigestServer, dayWords, digestLabel, dueWords } from './due-words.ts';
import { listNames, splitLines } from './many.ts';

interface Rendering {
  readonly currency: string;
  /** A newer digest has replaced it. */
  readonly isOver?: boolean;
  /** A user's own list, rather than the message in a channel. */
  readonly isOwn?: boolean;
}

/** So many servers have buttons, which are long: the rest of them have a line each here, and buttons in a modal. */
const WITH_BUTTONS = 6;
const ROOM = { sections: 1, characters: 2000 };

/** The digest of a day, as it stands now; nothing is left out without saying so. */
export function digestMessage(
  digest: Digest,
  { currency, isOver = false, isOwn = false }: Rendering,
): Message {
  const due = digest.due.filter(({ standing }) => standing.kind === 'due');
  const title = isOwn ? 'Coming renewals' : `Daily digest: ${dayWords(digest.day)}`;
  const blocks = [
    header(title),
    ...(digest.due.length > 0 || isOwn ? [section(summaryWords(due, currency, isOwn))] : []),
    ...serverBlocks(digest.due, currency, isOver),
    ...(isOver ? [] : [controls(due.length, digest.due.length, isOwn)]),
    ...expiredBlocks(digest.expired),
    ...driftBlocks(digest.drift),
    ...noteBlocks(digest, isOver),
  ];
  return {
    text: notificationWords(digest, due.length),
    blocks: digest.isComplete ? blocks : withPartOfList(blocks),
  };
}

/** Read aloud and shown in notifications. */
function notificationWords({ day, expired, drift }: Digest, due: number): string {
  const changes = drift.appeared.length + drift.vanished.length + drift.changed.length;
  const parts = [
    ...(due > 0 ? [`${count(due, 'server')} to renew soon`] : []),
    ...(expired.length > 0 ? [`${count(expired.length, 'server')} expired`] : []),
    ...(changes > 0 ? [`${count(changes, 'change')} outside this workspace`] : []),
  ];
  return `Daily digest for ${dayWords(day)}: ${parts.join(', ') || 'nothing left to renew'}`;
}

/** What the coming renewals cost, so that the balance can be topped up in time. A price that is not known is never guessed. */
function summaryWords(due: readonly DigestServer[], currency: string, isOwn: boolean): string {
  if (due.length === 0) return isOwn ? 'No servers need to be renewed soon.' : 'Nothing is left to renew.';
  const { known, unknown } = sumCost(due);
  const priced = due.length - unknown.length;
  const all = due.length === 1 ? 'Renewing it' : 'Renewing them';
  const whose = unknown.length === 0 ? all : `Renewing ${describeNumber(priced)} of them`;
  const cost =
    priced === 0
      ? ''
      : ` ${whose} costs *${escapeText(describeMoney(known, currency))}* at the prices last paid with this app.`;
  const names = listNames(unknown.map(({ label }) => digestLabel(label)));
  const rest =
    unknown.length === 0 ? '' : ` We don’t know the price of ${count(unknown.length, 'server')}: ${names}.`;
  return `*${count(due.length, 'server')} to renew soon.*${cost}${rest} Make sure the account balance covers it.`;
}

function serverBlocks(servers: readonly DigestServer[], currency: string, isOver: boolean): KnownBlock[] {
  const detailed = isOver ? [] : servers.slice(0, WITH_BUTTONS);
  const others = servers.slice(detailed.length).map((server) => dueWords(server, currency));
  const { sections, omitted } = splitLines(others, ROOM);
  return [
    ...detailed.flatMap((server) => dueBlocks(server, currency)),
    ...sections.map((lines) => section(lines)),
    ...(omitted > 0
      ? [
          context(
            `…and ${describeNumber(omitted)} more. ${isOver ? '`/vps reminders`' : '*Show all…*'} lists them.`,
          ),
        ]
      : []),
  ];
}

function controls(due: number, listed: number, isOwn: boolean): KnownBlock {
  return actions(
    ...(due > 1 ? [renewAllButton.element('Renew all…', {})] : []),
    ...(listed > WITH_BUTTONS ? [allRemindersButton.element('Show all…', {})] : []),
    remindersButton.element(isOwn ? 'Refresh' : 'Show my reminders', {}),
  );
}

function noteBlocks({ snoozed, left }: Digest, isOver: boolean): KnownBlock[] {
  const hidden = [
    ...(snoozed > 0 ? [`${snoozed} snoozed`] : []),
    ...(left > 0 ? [`${left} left to expire`] : []),
  ];
  return [
    ...(hidden.length > 0
      ? [context(`Not listed: ${hidden.join(', ')}. \`/vps reminders\` shows them.`)]
      : []),
    ...(isOver ? [context('A newer digest has replaced this one.')] : []),
  ];
}
