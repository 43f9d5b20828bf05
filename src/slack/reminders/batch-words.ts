import type { RenewalResult } from '../../app/reminders/end-batch.ts';
import type { UserId } from '../../domain/ids.ts';
import { actions, type Message, section, textMessage } from '../kit/blocks.ts';
import { count, describeNumber, mention, slackDate } from '../kit/text.ts';
import { outcomeWords } from '../purchases/outcome-words.ts';
import type { Wording } from '../purchases/reason-words.ts';
import { wordsOfError } from '../words.ts';
import { renewAllButton } from './buttons.ts';
import { digestLabel } from './due-words.ts';
import { listNames, splitLines } from './many.ts';

const PRIMARY = { style: 'primary' } as const;

/** 25 outcomes, each with its reason. */
const ROOM = { sections: 4, characters: 2800 };

/** The outcome of renewals that were confirmed together, for the user who confirmed them. */
export function batchMessage(results: readonly RenewalResult[], wording: Wording): Message {
  const { sections, omitted } = splitLines(
    results.map((result) => resultWords(result, wording)),
    ROOM,
  );
  const more =
    omitted > 0
      ? [section(`…and ${describeNumber(omitted)} more. \`/vps reminders\` shows what is left to renew.`)]
      : [];
  const rest = results.filter(wasNotSent).map(({ renewal }) => renewal.serverId);
  const again =
    rest.length > 0 ? [actions(renewAllButton.element('Renew the rest…', { only: rest }, PRIMARY))] : [];
  return textMessage(batchTitle(results), ...sections.map((text) => section(text)), ...more, ...again);
}

/** "3 of 5 servers were renewed." */
export function batchTitle(results: readonly RenewalResult[]): string {
  const renewed = results.filter(isOwnRenewal).length;
  if (renewed === results.length)
    return `*${count(renewed, 'server')}* ${renewed === 1 ? 'was' : 'were'} renewed.`;
  return `*${renewed} of ${count(results.length, 'server')}* ${renewed === 1 ? 'was' : 'were'} renewed.`;
}

/** What the channel reads; undefined when nothing was renewed. */
export function batchAnnouncement(actorId: UserId, results: readonly RenewalResult[]): Message | undefined {
  const renewed = results.filter(isOwnRenewal);
  if (renewed.length === 0) return undefined;
  const names = listNames(renewed.map(({ renewal }) => digestLabel(renewal.label)));
  return textMessage(`${mention(actorId)} renewed ${count(renewed.length, 'server')}: ${names}.`);
}

function isOwnRenewal(result: RenewalResult): boolean {
  return result.kind === 'operation' && result.isOwn && result.operation.state === 'settled';
}

/** Reasons that say nothing against the renewal itself: it couldn't be sent in time. */
const OUT_OF_TIME: readonly (string | undefined)[] = [
  'stale_confirmation',
  'waited_too_long',
  'shutting_down',
  'rate_limited',
  'not_sent',
];

function wasNotSent(result: RenewalResult): boolean {
  if (result.kind === 'not_begun') return true;
  return result.kind === 'operation' && result.isOwn && OUT_OF_TIME.includes(result.operation.reason?.code);
}

function resultWords(result: RenewalResult, wording: Wording): string {
  const label = digestLabel(result.renewal.label);
  switch (result.kind) {
    case 'operation':
      return operationWords(result, label, wording);
    case 'waiting':
      return `✋ ${label} is waiting for another manager’s approval.`;
    case 'failed':
      return `🔴 ${label} wasn’t renewed. ${wordsOfError(result.error, wording.currency)}`;
    case 'not_begun':
      return `⚪ ${label} wasn’t renewed: the order wasn’t sent in time, so nothing was charged.`;
  }
}

function operationWords(
  { operation, isOwn }: Extract<RenewalResult, { kind: 'operation' }>,
  label: string,
  wording: Wording,
): string {
  const { state, paidUntil, actorId } = operation;
  const until = paidUntil === undefined ? '' : `, paid until ${slackDate(paidUntil)}`;
  if (!isOwn) return `🔵 ${label}: ${mention(actorId)} was first. You weren’t charged.`;
  if (state === 'settled') return `🟢 ${label} was renewed${until}.`;
  return `${state === 'refused' ? '🔴' : '🟡'} ${outcomeWords(operation, wording)}`;
}
