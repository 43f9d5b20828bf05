import type { StoredEntry } from '../domain/audit-entry.ts';
import { csvLine } from '../domain/csv.ts';
import { describeMoney } from '../domain/money.ts';

/** How the audit is written for other programs. */
export interface AuditFormat {
  /** What comes before the first entry. */
  readonly head: string;
  write(entry: StoredEntry): string;
}

/** The columns of CSV and the keys of JSON Lines. Times are UTC; money is decimal, the API names no currency. */
const FIELDS: Readonly<Record<keyof StoredEntry, (entry: StoredEntry) => string | number | undefined>> = {
  workspaceId: (entry) => entry.workspaceId,
  seq: (entry) => entry.seq,
  id: (entry) => entry.id,
  at: (entry) => new Date(entry.at).toISOString(),
  actorId: (entry) => entry.actorId,
  channelId: (entry) => entry.channelId,
  surface: (entry) => entry.surface,
  action: (entry) => entry.action,
  actId: (entry) => entry.actId,
  serverId: (entry) => entry.serverId,
  label: (entry) => entry.label,
  outcome: (entry) => entry.outcome,
  code: (entry) => entry.code,
  operationId: (entry) => entry.operationId,
  money: (entry) => (entry.money === undefined ? undefined : describeMoney(entry.money)),
  signature: (entry) => entry.signature,
};

/** The formats by name: CSV as RFC 4180 has it, and JSON Lines. */
export const AUDIT_FORMATS: Readonly<Record<string, AuditFormat>> = {
  csv: {
    head: toLine(Object.keys(FIELDS)),
    write: (entry) => toLine(Object.values(FIELDS).map((read) => read(entry))),
  },
  jsonl: {
    head: '',
    write: (entry) => {
      const fields = Object.entries(FIELDS).map(([name, read]) => [name, read(entry)]);
      return `${JSON.stringify(Object.fromEntries(fields))}\n`;
    },
  },
};

function toLine(cells: readonly (string | number | undefined)[]): string {
  return `${csvLine(cells)}\r\n`;
}
