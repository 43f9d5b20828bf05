import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { addAudit } from '../db/audit.ts';
import type { Foundation } from '../db/database.ts';
import { keepPresent } from '../db/engine.ts';
import type { Decision, DecisionStore, NewDecision } from './decision.ts';

/** A table of decisions, and what its rows are. */
interface DecisionTable<Kind extends Decision> {
  readonly table: 'approvals' | 'access_requests';
  /** When the row's state was last changed. */
  readonly changedAt: RawBuilder<number>;
  /** Other columns to set when an open one expires. */
  readonly onExpiry: (now: number) => { readonly changed_at?: number; readonly claim?: string };
  readonly read: (row: never) => Kind;
}

type DecisionRow = Awaited<ReturnType<ReturnType<typeof selectFrom>['execute']>>[number];

function selectFrom({ db }: Foundation, table: DecisionTable<Decision>['table']) {
  return db.selectFrom(table).selectAll();
}

/** The part of the store that all kinds of decisions share. Of two changes that race, one happens. */
export function createDecisionStore<Kind extends Decision>(
  foundation: Foundation,
  kind: DecisionTable<Kind>,
): DecisionStore<Kind> {
  const { db, engine } = foundation;
  const { table } = kind;
  return {
    ...createDecisionLists(foundation, kind),
    storeCards: async (id, cards) => {
      const text = JSON.stringify(cards);
      await db.updateTable(table).set({ cards: text }).where('id', '=', id).execute();
    },
    markNotified: async (id, state) => {
      const update = db.updateTable(table).set({ is_told: 1 });
      await update.where('id', '=', id).where('state', '=', state).execute();
    },
    expire: (now, auditOf) =>
      engine.transact(db, async (trx) => {
        const due = await trx
          .selectFrom(table)
          .selectAll()
          .where('state', '=', 'open')
          .where('expires_at', '<=', now)
          .execute();
        const ids = due.map(({ id }) => id);
        if (ids.length === 0) return [];
        const rows = await trx
          .updateTable(table)
          .set({ state: 'expired', decided_at: now, is_told: 0, ...kind.onExpiry(now) })
          .where('state', '=', 'open')
          .where('id', 'in', ids)
          .returningAll()
          .execute();
        // Audit chains are always locked in the same order, to avoid deadlocks.
        const expired = rows.sort(byWorkspace).map(kind.read as (row: DecisionRow) => Kind);
        for (const decision of expired) await addAudit(trx, foundation, auditOf(decision));
        return expired;
      }),
  };
}

function createDecisionLists<Kind extends Decision>(
  foundation: Foundation,
  { table, changedAt, read: readRow }: DecisionTable<Kind>,
): Pick<DecisionStore<Kind>, 'find' | 'listOpen' | 'listUnnotified'> {
  const read = readRow as (row: DecisionRow) => Kind;
  const select = () => selectFrom(foundation, table);
  const oldestFirst = () => select().orderBy('asked_at').orderBy('id');
  return {
    find: async (id) => {
      const row = await select().where('id', '=', id).executeTakeFirst();
      return row && read(row);
    },
    listOpen: async (workspaceId) => {
      const inWorkspace = oldestFirst().where('workspace_id', '=', workspaceId);
      return (await inWorkspace.where('state', '=', 'open').execute()).map(read);
    },
    listUnnotified: async (before) => {
      const unnotified = oldestFirst().where('is_told', '=', 0);
      return (await unnotified.where(sql<boolean>`${changedAt} < ${before}`).execute()).map(read);
    },
  };
}

/** Sorts the rows of RETURNING, which have no order. */
function byWorkspace(a: DecisionRow, b: DecisionRow): number {
  if (a.workspace_id !== b.workspace_id) return a.workspace_id < b.workspace_id ? -1 : 1;
  return a.asked_at - b.asked_at || (a.id < b.id ? -1 : 1);
}

const cards = z.array(z.object({ channelId: z.string(), ts: z.string() }));

/** The columns that all decision tables share. */
interface DecisionColumns {
  readonly id: string;
  readonly workspace_id: string;
  readonly channel_id: string | null;
  readonly asked_at: number;
  readonly expires_at: number;
  readonly decided_by: string | null;
  readonly decided_at: number | null;
  readonly denial_reason: string | null;
  readonly is_told: number;
  /** JSON. */
  readonly cards: string;
}

/** Makes these columns for a new decision. */
export function toDecisionColumns(decision: NewDecision<Decision>) {
  return {
    id: decision.id,
    workspace_id: decision.workspaceId,
    channel_id: decision.channelId ?? null,
    asked_at: decision.requestedAt,
    expires_at: decision.expiresAt,
    state: 'open',
    decided_by: null,
    decided_at: null,
    denial_reason: null,
    is_told: 0,
    cards: '[]',
  } as const;
}

/** Reads these columns. */
export function fromDecisionColumns(row: DecisionColumns): Omit<Decision, 'state' | 'requesterId'> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    requestedAt: row.asked_at,
    expiresAt: row.expires_at,
    isNotified: row.is_told === 1,
    cards: cards.parse(JSON.parse(row.cards)),
    ...keepPresent({
      channelId: row.channel_id,
      decidedBy: row.decided_by,
      decidedAt: row.decided_at,
      denialReason: row.denial_reason,
    }),
  };
}
