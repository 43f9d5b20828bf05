import type { StoredEntry } from '../../domain/audit-entry.ts';
import { actions, type Message, section } from '../kit/blocks.ts';
import { slackDate } from '../kit/text.ts';
import type { AuditQuery } from './audit-query.ts';
import { describeQuery } from './audit-query.ts';
import { describeAct } from './audit-sentence.ts';
import { auditEntryButton, auditFilterButton, auditNewestButton, auditPageButton } from './buttons.ts';

export const ENTRIES_PER_PAGE = 10;

/** One page of the audit, newest first; one entry more than a page means that there are older ones. */
export function auditMessage(
  entries: readonly StoredEntry[],
  query: AuditQuery,
  before: string | undefined,
  currency: string,
): Message {
  const shown = entries.slice(0, ENTRIES_PER_PAGE);
  const last = shown.at(-1);
  const filters = describeQuery(query);
  const title = `*Audit log*${filters === '' ? '' : ` · ${filters}`}`;
  const buttons = [
    ...(before === undefined ? [] : [auditNewestButton.element('Newest', query)]),
    ...(last && entries.length > shown.length
      ? [auditPageButton.element('Older', { ...query, before: last.id })]
      : []),
  ];
  return {
    text: shown.length === 0 ? NOTHING : 'Audit log',
    blocks: [
      section(title, auditFilterButton.element('Filter…', query)),
      ...(shown.length === 0 ? [section(NOTHING)] : shown.map((entry) => describeEntry(entry, currency))),
      ...(buttons.length === 0 ? [] : [actions(...buttons)]),
    ],
  };
}

const NOTHING = 'No matching entries.';

/** "today 11:09 @olga viewed the root password of `web-1` in #ops", with everything else behind a button. */
function describeEntry(entry: StoredEntry, currency: string) {
  const details = auditEntryButton.element(
    'Details',
    { id: entry.id },
    { label: `Details of entry ${entry.seq}` },
  );
  return section(`${slackDate(entry.at)} ${describeAct(entry, currency)}`, details);
}
