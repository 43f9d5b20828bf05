import type { KnownBlock, ModalView } from '@slack/types';
import type { AuditEntry, StoredEntry } from '../../domain/audit-entry.ts';
import { describeMoney } from '../../domain/money.ts';
import { context, facts, plain, section } from '../kit/blocks.ts';
import { codeLabel, escapeText, slackDate, utcDate } from '../kit/text.ts';
import { describeAct, describeActor } from './audit-sentence.ts';
import { describeCode } from './code-words.ts';

export const DETAILS_TITLE = 'Audit entry';

/** Everything that one entry says, in words and as it is stored. */
export function auditDetailsView(entry: StoredEntry, currency: string): ModalView {
  return {
    type: 'modal',
    title: plain(DETAILS_TITLE),
    close: plain('Close'),
    blocks: [
      section(`${describeAct(entry, currency)}.`),
      facts(listFacts(entry, currency)),
      ...storedLabel(entry),
      context(describeIds(entry)),
    ],
  };
}

/** What is not recorded is left out. */
function listFacts(entry: StoredEntry, currency: string): readonly (readonly [string, string])[] {
  const { at, actorId, channelId, surface, serverId, money } = entry;
  return [
    ['When', `${slackDate(at)}\n${utcDate(at)}`],
    ['Who', `${describeActor(actorId)}\n${codeLabel(actorId)}`],
    ...(channelId === undefined ? [] : [['Where', `<#${channelId}>\n${codeLabel(channelId)}`] as const]),
    ['How', wordsIn(SURFACES, surface)],
    ['Outcome', describeOutcome(entry)],
    ...(serverId === undefined ? [] : [['Server', `ID ${codeLabel(String(serverId))}`] as const]),
    ...(money === undefined ? [] : [['Amount', escapeText(describeMoney(money, currency))] as const]),
  ];
}

function describeOutcome({ outcome, code }: StoredEntry): string {
  const words = wordsIn(OUTCOMES, outcome);
  return code === undefined ? words : `${words}: ${escapeText(describeCode(code))}`;
}

/** What another version of the app has written is shown as it is stored. */
function wordsIn(words: Readonly<Record<string, string>>, stored: string): string {
  return (Object.hasOwn(words, stored) ? words[stored] : undefined) ?? codeLabel(stored);
}

/** The label as it was stored: what a role or a setting was changed from and to, with its IDs. */
function storedLabel({ label }: StoredEntry): KnownBlock[] {
  return label === undefined || label === '' ? [] : [section(`*Recorded as*\n${codeLabel(label, 2500)}`)];
}

function describeIds({ seq, id, action, code, actId, operationId }: StoredEntry): string {
  const parts = [
    `Entry ${seq}`,
    codeLabel(id),
    `action ${codeLabel(action)}`,
    code === undefined ? '' : `code ${codeLabel(code)}`,
    `act ${codeLabel(actId)}`,
    operationId === undefined ? '' : `order ${codeLabel(operationId)}`,
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

const OUTCOMES: Readonly<Record<AuditEntry['outcome'], string>> = {
  started: 'Not recorded yet',
  done: 'Succeeded',
  failed: 'Failed',
  denied: 'Denied',
  in_doubt: 'Unconfirmed',
};

const SURFACES: Readonly<Record<AuditEntry['surface'], string>> = {
  command: 'Slash command',
  button: 'Button',
  modal: 'Form',
  shortcut: 'Shortcut',
  mention: 'Mention',
  direct_message: 'Direct message',
  home: 'App Home',
  page: 'Connect page',
  background: 'By itself, in the background',
  workflow: 'Workflow step',
  cli: 'Command line',
  command_line: 'Command line',
};
