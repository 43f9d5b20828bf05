import type { Selectable } from 'kysely';
import type { AuditEntry, StoredEntry } from '../../domain/audit-entry.ts';
import { money } from '../../domain/money.ts';
import { keepPresent } from '../engine/omit-null.ts';
import type { AuditRow } from '../engine/tables.ts';

/** What of a row its entry says; the rest is its place in the chain. */
export type AuditFacts = Omit<Selectable<AuditRow>, 'seq' | 'previous' | 'signature'>;

/** Makes the columns of an entry. */
export function toFacts(id: string, entry: AuditEntry): AuditFacts {
  const label = keepText(entry.label);
  return {
    id,
    workspace_id: entry.workspaceId,
    at: entry.at,
    actor_id: keepText(entry.actorId) ?? '',
    channel_id: keepText(entry.channelId),
    surface: entry.surface,
    action: keepText(entry.action) ?? '',
    act_id: keepText(entry.actId) ?? '',
    server_id: entry.serverId ?? null,
    label,
    label_key: searchKeyOf(label ?? ''),
    outcome: entry.outcome,
    code: keepText(entry.code),
    operation_id: keepText(entry.operationId),
    money: entry.money ?? null,
  };
}

/** Entries are found by their label in any case. It is signed with the entry, so it can't be computed differently now. */
export function searchKeyOf(label: string): string {
  return label.toLowerCase();
}

/** Reads a row of the audit. */
export function toEntry(row: AuditRow): StoredEntry {
  return {
    id: row.id,
    seq: row.seq,
    signature: row.signature,
    at: row.at,
    workspaceId: row.workspace_id,
    actorId: row.actor_id,
    surface: row.surface,
    action: row.action,
    actId: row.act_id,
    outcome: row.outcome,
    ...keepPresent({
      channelId: row.channel_id,
      serverId: row.server_id,
      label: row.label,
      code: row.code,
      operationId: row.operation_id,
      money: row.money === null ? null : money(row.money),
    }),
  };
}

/** A text as it comes back from every engine: NUL ends it in SQLite, and half a surrogate pair is no letter. */
function keepText(text: string | undefined): string | null {
  return text === undefined ? null : Buffer.from(text).toString().replaceAll('\0', '\uFFFD');
}
