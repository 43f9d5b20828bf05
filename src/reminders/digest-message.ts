import type { Button, KnownBlock } from '@slack/types';
import { z } from 'zod';
import type { HostingError, Refusal } from '../core/errors.ts';
import type { ChannelId, PostedMessage, UserId, WorkspaceId } from '../core/ids.ts';
import { describeMoney, describeMonthly } from '../core/money.ts';
import { renewButton } from '../purchases/catalog.ts';
import { sumCost } from '../purchases/costs.ts';
import {
  actions,
  confirmation,
  context,
  header,
  type Message,
  section,
  textMessage,
  withPartOfList,
} from '../slack/kit/blocks.ts';
import { defineButton, definePages, pageNumber, pageOf } from '../slack/kit/button.ts';
import {
  codeLabel,
  count,
  describeNumber,
  escapeText,
  mention,
  plainLabel,
  plainState,
  slackDate,
  slackDay,
} from '../slack/kit/text.ts';
import { type NotifierParts, notifySafely } from '../slack/outbox.ts';
import { unpostableWords, wordsOfError } from '../words.ts';
import {
  type Digest,
  type DigestEntry,
  type Drift,
  type DueStanding,
  type ExpiredServer,
  isQuiet,
} from './digest-content.ts';

/**
 * One month of a server: on an old message, a button must not be about the month after it. `page`: it stands in a user's own list
 * of the servers to renew, on that page.
 */
const month = z.object({
  id: z.number().int(),
  paidUntil: z.number(),
  page: pageNumber.exactOptional(),
});
export type PressedMonth = z.output<typeof month>;

export const snoozeButton = defineButton('snooze', month);
export const letExpireButton = defineButton('let_expire', month);
export const remindButton = defineButton('remind_again', month);
/** Opens the review of all renewals that are due, or of `only` these servers. */
export const renewAllInput = z.object({ only: z.array(z.number().int()).exactOptional() });
export const renewAllButton = defineButton('renew_all', renewAllInput);
export const remindersButton = defineButton('reminders', z.object({}));

/** How many servers have buttons, which take much room. The others have a line each. */
const WITH_BUTTONS = 6;
const ROOM = { sections: 1, characters: 2000 };

/** The digest of a day, as it is now; nothing is left out without saying so. */
export function digestMessage(digest: Digest, currency: string): Message {
  const { day, due, expired, drift, isComplete } = digest;
  const blocks = [
    header(`Daily digest: ${dayWords(day)}`),
    ...(due.length > 0 ? [section(summaryWords(due, currency))] : []),
    actions(...renewAllButtons(due), remindersButton.element('Show my reminders', {})),
    ...serverBlocks(due, currency),
    ...listBlocks('*Paid time ended*\n', expired.map(expiredWords), { sections: 1, characters: 1500 }),
    ...driftBlocks(drift),
    ...noteBlocks(digest),
    ...(isQuiet(digest) ? [CHECK_ACCOUNT] : []),
  ];
  return { text: notificationWords(digest), blocks: isComplete ? blocks : withPartOfList(blocks) };
}

const CHECK_ACCOUNT = context('Check the hosting account for servers that need to be renewed.');

/** Read aloud and shown in notifications. */
function notificationWords({ day, due: listed, expired, drift, isComplete }: Digest): string {
  const due = countOf(listed, 'due');
  const ended = countOf(listed, 'expired') + expired.length;
  const changes = drift.appeared.length + drift.vanished.length + drift.changed.length;
  const parts = [
    ...(due > 0 ? [`${count(due, 'server')} to renew soon`] : []),
    ...(ended > 0 ? [endedWords(ended)] : []),
    ...listPending(listed),
    ...(changes > 0 ? [`${count(changes, 'change')} outside this workspace`] : []),
    ...(isComplete ? [] : ['only part of the list of servers was received']),
  ];
  return `Daily digest for ${dayWords(day)}: ${parts.join(', ') || 'nothing left to renew'}`;
}

/** The servers that **Renew all** covers. */
const listUnrenewed = (servers: readonly DigestServer[]) =>
  servers.filter(({ standing }) => standing.kind === 'due' || standing.kind === 'expired');

const countOf = (servers: readonly DigestServer[], ...kinds: readonly DueStanding['kind'][]) =>
  servers.filter(({ standing }) => kinds.includes(standing.kind)).length;

/** What isn't to be renewed now, and isn't renewed either. */
function listPending(servers: readonly DigestServer[]): string[] {
  const unconfirmed = countOf(servers, 'paying', 'unconfirmed');
  const snoozed = countOf(servers, 'snoozed');
  return [
    ...(unconfirmed > 0 ? [`${count(unconfirmed, 'renewal')} ${notYetConfirmed(unconfirmed)}`] : []),
    ...(snoozed > 0 ? [`${count(snoozed, 'reminder')} ${snoozed === 1 ? 'is' : 'are'} snoozed`] : []),
  ];
}

export function notYetConfirmed(amount: number): string {
  return `${amount === 1 ? 'isn’t' : 'aren’t'} confirmed yet`;
}

function endedWords(servers: number): string {
  return `${servers === 1 ? '1 server’s' : `${describeNumber(servers)} servers’`} paid time has ended`;
}

/** What the coming renewals cost, so that the balance can be topped up in time. A price that is not known is never guessed. */
function summaryWords(listed: readonly DigestServer[], currency: string): string {
  const unrenewed = listUnrenewed(listed);
  const pending = listPending(listed)
    .map((words) => ` ${words}.`)
    .join('');
  if (unrenewed.length === 0) {
    if (pending !== '') return `Nothing to renew right now.${pending}`;
    const isAllRenewed = listed.every(({ standing }) => standing.kind === 'renewed');
    return isAllRenewed ? 'Everything is renewed.' : 'Nothing is left to renew.';
  }
  const ended = countOf(listed, 'expired');
  const due = unrenewed.length - ended;
  const what = [
    ...(ended > 0 ? [`${endedWords(ended)}.`] : []),
    ...(due > 0 ? [`${count(due, 'server')} to renew soon.`] : []),
  ];
  const { known, unknown } = sumCost(unrenewed);
  const priced = unrenewed.length - unknown.length;
  const amount = `*${escapeText(describeMoney(known, currency))}*`;
  const cost = [
    ...(priced > 0 ? [`Known cost, at the prices last paid: ${amount} (${count(priced, 'server')}).`] : []),
    ...(unknown.length > 0 ? [`Price unknown: ${describeNumber(unknown.length)}.`] : []),
  ];
  const them = unrenewed.length === 1 ? 'it' : 'them';
  return `*${what.join(' ')}* ${cost.join(' ')} Check that the account balance covers ${them}.${pending}`;
}

function serverBlocks(servers: readonly DigestServer[], currency: string): KnownBlock[] {
  const detailed = servers.slice(0, WITH_BUTTONS);
  const others = servers.slice(detailed.length).map((server) => dueWords(server, currency));
  return [
    ...detailed.flatMap((server) => dueBlocks(server, currency)),
    ...listBlocks('', others, ROOM, ' `/vps reminders` lists them.'),
  ];
}

function renewAllButtons(servers: readonly DigestServer[]): Button[] {
  if (listUnrenewed(servers).length < 2) return [];
  return [renewAllButton.element('Renew all…', {}, { style: 'primary' })];
}

/** Each takes two blocks and much room. */
const ON_A_PAGE = 10;
export const reminderPages = definePages('reminders');

/** The servers to renew that a user may see. */
export interface Reminders {
  readonly due: readonly DigestServer[];
  /** The workspace has a channel for the daily digest. */
  readonly isPosted: boolean;
}

/** One page of the servers to renew; the last one if there are fewer by now. */
export function remindersMessage({ due, isPosted }: Reminders, asked: number, currency: string): Message {
  const { page, pages, from, shown } = pageOf(due, asked, ON_A_PAGE);
  const range = `${from + 1}–${from + shown.length} of ${describeNumber(due.length)}`;
  const renewAll = renewAllButtons(due);
  return {
    text: 'Upcoming renewals',
    blocks: [
      header('Upcoming renewals'),
      section(due.length === 0 ? 'No servers need to be renewed soon.' : summaryWords(due, currency)),
      ...unpostedNote(isPosted),
      ...(renewAll.length > 0 ? [actions(...renewAll)] : []),
      ...shown.flatMap((server) => dueBlocks(server, currency, page)),
      ...(pages > 1
        ? [
            context(`Showing ${range}, most urgent first.`),
            actions(...reminderPages.buttons({ page, pages })),
          ]
        : []),
    ],
  };
}

/** Without a digest, nobody is reminded. */
export function unpostedNote(isPosted: boolean): KnownBlock[] {
  if (isPosted) return [];
  return [
    context('The daily digest is off, so nothing is posted. An owner can turn it on in `/vps settings`.'),
  ];
}

function noteBlocks({ snoozed, left }: Digest): KnownBlock[] {
  const hidden = [
    ...(snoozed > 0 ? [`${snoozed} snoozed`] : []),
    ...(left > 0 ? [`${left} expiring on purpose`] : []),
  ];
  if (hidden.length === 0) return [];
  return [context(`Hidden: ${hidden.join(', ')}. \`/vps reminders\` shows them.`)];
}

function expiredWords({ label, paidUntil, leftBy, isListed }: ExpiredServer): string {
  const who = leftBy === undefined ? '' : ` · ${mention(leftBy)} let it expire`;
  const gone = isListed ? '' : ' · no longer in the hosting account';
  return `• ${digestLabel(label)} · ${slackDate(paidUntil)}${who}${gone}`;
}

/** A list of names takes one of them at most, so only changes of state may be left out. */
const DRIFT_ROOM = { sections: 2, characters: 1200 };

/** What changed without this app, or through another workspace. */
function driftBlocks({ appeared, vanished, changed }: Drift): KnownBlock[] {
  const state = (word: string) => escapeText(plainState({ state: word }));
  const namesOf = (servers: readonly DigestEntry[]) =>
    listNames(servers.map(({ label }) => digestLabel(label)));
  return listBlocks(
    '*Changed outside this workspace since the last digest*\n',
    [
      ...(appeared.length > 0 ? [`• New: ${namesOf(appeared)}`] : []),
      ...(vanished.length > 0 ? [`• No longer in the hosting account: ${namesOf(vanished)}`] : []),
      ...changed.map(({ label, before, now }) => `• ${digestLabel(label)}: ${state(before)} → ${state(now)}`),
    ],
    DRIFT_ROOM,
  );
}

function listBlocks(title: string, lines: readonly string[], room: Room, whereAll = ''): KnownBlock[] {
  const { sections, omitted } = splitLines(lines, room);
  return [
    ...sections.map((text, at) => section(at === 0 ? `${title}${text}` : text)),
    ...(omitted > 0 ? [context(`…and ${describeNumber(omitted)} more.${whereAll}`)] : []),
  ];
}

/** A server to renew, with its buttons. `page`: the page of a user's own list, if it is shown there. */
function dueBlocks(server: DigestServer, currency: string, page?: number): KnownBlock[] {
  const { serverId: id, label, paidUntil, snoozeEnd, standing } = server;
  const line = section(dueWords(server, currency));
  const month = { id, paidUntil, page };
  const name = plainLabel(label, 50);
  if (standing.kind === 'snoozed' || standing.kind === 'left') {
    const again = remindButton.element('Remind again', month, { label: `Remind again about ${name}` });
    return [line, actions(again)];
  }
  if (standing.kind !== 'due' && standing.kind !== 'expired') return [line];
  return [
    line,
    actions(
      renewButton.element('Renew and pay…', { id }, { label: `Renew ${name}` }),
      ...(snoozeEnd === undefined ? [] : [snoozeElement(snoozeEnd, month, name)]),
      letExpireButton.element('Let it expire', month, {
        label: `Let ${name} expire`,
        confirm: confirmation({
          title: 'Let it expire?',
          text: `This only stops the reminders about ${plainLabel(label, 60)}; the server isn’t changed. We don’t know what the hosting company does with it after its paid time ends.`,
          confirm: 'Let it expire',
        }),
      }),
    ),
  ];
}

function snoozeElement(untilDay: string, month: PressedMonth, name: string): Button {
  const text = `Snooze until ${dayWords(untilDay)}`;
  return snoozeButton.element(text, month, { label: `${text}: ${name}` });
}

type DigestServer = Digest['due'][number];

/** Labels are shortened, so that even many of them fit into one message. */
const LABEL_MOST = 40;

export function digestLabel(label: string): string {
  return codeLabel(label, LABEL_MOST);
}

/** A server that has to be renewed, and what has become of it since, in one line. */
function dueWords(server: DigestServer, currency: string): string {
  const { isUrgent, standing, label } = server;
  const icon = standing.kind === 'due' && isUrgent ? '⚠️' : ICONS[standing.kind];
  return `${icon} ${digestLabel(label)} · ${standingWords(server, currency)}`;
}

/** No colored dots: those are for the states of servers. */
const ICONS: Readonly<Record<DigestServer['standing']['kind'], string>> = {
  due: '⏳',
  expired: '⚠️',
  paying: '⏳',
  unconfirmed: '⏳',
  renewed: '✅',
  snoozed: '▫️',
  left: '▫️',
};

function standingWords({ standing, paidUntil, daysLeft, price }: DigestServer, currency: string): string {
  switch (standing.kind) {
    case 'due': {
      const monthly = price === undefined ? 'price unknown' : escapeText(describeMonthly(price, currency));
      return `*${daysLeftWords(daysLeft)}* (${slackDate(paidUntil)}) · ${monthly}`;
    }
    case 'expired':
      return `paid time ended ${slackDate(paidUntil)}`;
    case 'paying':
      return `${mention(standing.by)} is renewing it…`;
    case 'unconfirmed':
      return `the renewal by ${mention(standing.by)} isn’t confirmed yet`;
    case 'renewed':
      return `renewed by ${mention(standing.by)}, paid until ${slackDate(standing.paidUntil)}`;
    case 'snoozed':
      return `snoozed by ${mention(standing.by)} until ${dayWords(standing.untilDay)} · ${daysLeftWords(daysLeft)} (${slackDay(paidUntil)})`;
    case 'left':
      return standing.hasEnded
        ? `${mention(standing.by)} let it expire · paid time ended ${slackDate(paidUntil)}`
        : `${mention(standing.by)} is letting it expire · ${daysLeftWords(daysLeft)} (${slackDate(paidUntil)})`;
  }
}

function daysLeftWords(days: number): string {
  if (days <= 0) return 'ends today';
  return days === 1 ? 'ends tomorrow' : `${count(days, 'day')} left`;
}

/** "Mar 5": a day of the digest's own time zone, whatever the reader's. */
export function dayWords(day: string): string {
  return new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', month: 'short', day: 'numeric' }).format(
    Date.parse(day),
  );
}

/** How much room lines may take: Slack takes 13,000 characters in all blocks of a message, escapes included. */
interface Room {
  readonly sections: number;
  readonly characters: number;
}

const NAMES_SHOWN = 5;

/** Puts lines into as few sections as they need; `omitted` counts the lines that fit into none. */
export function splitLines(lines: readonly string[], room: Room) {
  const sections: string[] = [];
  let shown = 0;
  for (const line of lines) {
    const last = sections.at(-1);
    if (last !== undefined && last.length + line.length < room.characters)
      sections[sections.length - 1] = `${last}\n${line}`;
    else if (sections.length < room.sections) sections.push(line);
    else break;
    shown += 1;
  }
  return { sections, omitted: lines.length - shown };
}

/** "`a`, `b` and 7 more". */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN);
  const rest = names.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${describeNumber(rest)} more` : shown.join(', ');
}

export type PostedDigest = Awaited<ReturnType<NotifierParts['outbox']['postOnce']>>;

/** Posts digests and edits them. Only `prepare` throws. */
export function createReminderNotifier({ outbox, log, currency }: NotifierParts) {
  return {
    /**
     * Renders a digest, and returns what posts it: not where other organizations could read it (`channel_is_shared`, or
     * `channel_unreadable` if Slack does not say).
     */
    prepare: (workspaceId: WorkspaceId, channelId: ChannelId, digest: Digest) => {
      const message = digestMessage(digest, currency);
      return () =>
        notifySafely<PostedDigest>(workspaceId, log, { kind: 'unknown' }, () =>
          outbox.postOnce(workspaceId, channelId, message),
        );
    },
    postUnreadable: (workspaceId: WorkspaceId, channelId: ChannelId, error: HostingError | Refusal) =>
      notifySafely<PostedDigest>(workspaceId, log, { kind: 'unknown' }, () =>
        outbox.postOnce(workspaceId, channelId, unreadableMessage(error)),
      ),
    update: (workspaceId: WorkspaceId, card: PostedMessage, digest: Digest) =>
      notifySafely(workspaceId, log, undefined, async () => {
        await outbox.edit(workspaceId, card, digestMessage(digest, currency));
      }),
    notifyUndelivered: (
      workspaceId: WorkspaceId,
      channelId: ChannelId,
      reason: string,
      owners: readonly UserId[],
    ) =>
      notifySafely(workspaceId, log, undefined, async () => {
        const message = undeliveredMessage(channelId, reason);
        await Promise.all(owners.map((userId) => outbox.sendDirectly(workspaceId, userId, message)));
      }),
  };
}

export function unreadableMessage(error: HostingError | Refusal): Message {
  return textMessage(
    `There’s no digest today, because the list of servers couldn’t be read. ${wordsOfError(error, '')}`,
    CHECK_ACCOUNT,
  );
}

export function undeliveredMessage(channelId: ChannelId, reason: string): Message {
  return textMessage(
    `The daily digest couldn’t be posted in <#${channelId}>. ${unpostableWords(reason)}`,
    context('To choose another channel, run `/vps settings`. `/vps reminders` shows the servers to renew.'),
  );
}
