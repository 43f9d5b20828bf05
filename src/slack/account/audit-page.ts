import type { AuditEntry } from '../../domain/audit-entry.ts';
import { describeMoney } from '../../domain/money.ts';
import { actions, type Message, section, textMessage } from '../kit/blocks.ts';
import { codeLabel, escapeText, mention, slackDate } from '../kit/text.ts';
import { describeAction } from './action-words.ts';
import { auditPageButton } from './buttons.ts';

export const ENTRIES_PER_PAGE = 20;
/** This many lines fit into one paragraph, even with the longest labels. */
const ENTRIES_PER_SECTION = 5;

/** Which entries are wanted. */
export interface AuditQuery {
  readonly server?: string;
  readonly actorId?: string;
  /** Epoch milliseconds. */
  readonly since?: number;
}

/** One page of the audit, newest first; one entry more than a page means that there are older ones. */
export function auditMessage(
  entries: readonly (AuditEntry & { readonly id: string })[],
  query: AuditQuery,
  before: string | undefined,
  currency: string,
): Message {
  const shown = entries.slice(0, ENTRIES_PER_PAGE);
  const last = shown.at(-1);
  if (!last)
    return textMessage(before ? 'There are no older entries.' : 'Nothing has been done yet that fits.');
  const lines = omitStarted(shown).map((entry) => describeEntry(entry, currency));
  const parts = Array.from({ length: Math.ceil(lines.length / ENTRIES_PER_SECTION) }, (_, part) =>
    lines.slice(part * ENTRIES_PER_SECTION, (part + 1) * ENTRIES_PER_SECTION),
  );
  const older =
    entries.length > shown.length
      ? [actions(auditPageButton.element('Older', { ...query, before: last.id }))]
      : [];
  return { text: 'Audit', blocks: [...parts.map((part) => section(part.join('\n'))), ...older] };
}

/** `started` is only shown while the outcome is not known. */
function omitStarted<Entry extends AuditEntry>(entries: readonly Entry[]): Entry[] {
  const known = new Set(entries.filter(({ outcome }) => outcome !== 'started').map(({ actId }) => actId));
  return entries.filter(({ outcome, actId }) => outcome !== 'started' || !known.has(actId));
}

function describeEntry(entry: AuditEntry, currency: string): string {
  const parts = [
    slackDate(entry.at),
    describeActor(entry.actorId),
    `*${escapeText(describeAction(entry.action))}*`,
    entry.label === undefined ? '' : codeLabel(entry.label, 40),
    `${words(entry.outcome)}${entry.code ? ` (${escapeText(words(entry.code))})` : ''}`,
    entry.money === undefined ? '' : describeMoney(entry.money, currency),
    entry.channelId === undefined ? '' : `in <#${entry.channelId}>`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** The app itself and the command line are not users who could be mentioned. */
function describeActor(actorId: string): string {
  return /^[UW][A-Z0-9]+$/.test(actorId) ? mention(actorId) : `the ${escapeText(actorId)}`;
}

/** Shows codes as words; the export keeps the codes. */
function words(code: string): string {
  return code.replaceAll('_', ' ');
}
