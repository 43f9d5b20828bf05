import { z } from 'zod';
import type { WorkflowRunId } from '../core/ids.ts';
import { Secret } from '../core/secret.ts';
import { POWER_ACTIONS } from '../core/server.ts';
import type { WorkflowKey } from '../core/workflow-key.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { keepPresent } from '../db/engine.ts';
import type { WorkflowKeyRow, WorkflowRunRow } from '../db/tables.ts';
import type { SealedPlace } from '../db/vault.ts';
import type { Card } from '../requests/request.ts';
import type {
  HashedKey,
  NewRun,
  RunKey,
  RunOutcome,
  WorkflowKeys,
  WorkflowRun,
  WorkflowRuns,
} from './run.ts';

/** Workflow keys; of a key itself, only the hash is stored. */
export function createWorkflowKeys(foundation: Foundation): WorkflowKeys {
  const { db, engine } = foundation;
  return {
    add: (key, most) => engine.transact(db, (trx) => addKey(trx, key, most)),
    find: async (workspaceId, id) => {
      const row = await db
        .selectFrom('workflow_keys')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .executeTakeFirst();
      return row && toKey(row);
    },
    findByHash: async (workspaceId, hash) => {
      const row = await db
        .selectFrom('workflow_keys')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('hash', '=', hash)
        .executeTakeFirst();
      return row && toKey(row);
    },
    list: (workspaceId) => listKeys(db, workspaceId),
    remove: async (workspaceId, id) => {
      const row = await db
        .deleteFrom('workflow_keys')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
      return row && toKey(row);
    },
  };
}

async function listKeys(db: Queries, workspaceId: string): Promise<readonly WorkflowKey[]> {
  const rows = await db
    .selectFrom('workflow_keys')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('issued_at')
    .orderBy('id')
    .execute();
  return rows.map(toKey);
}

async function addKey(trx: Queries, key: HashedKey, most: number): Promise<boolean> {
  const { id, workspaceId, name, hash, actions, pattern, issuedBy, issuedAt, until } = key;
  if ((await listKeys(trx, workspaceId)).length >= most) return false;
  const added = await trx
    .insertInto('workflow_keys')
    .values({
      ...{ id, workspace_id: workspaceId, name, name_key: name.toLowerCase(), hash, pattern },
      ...{ actions: actions.join(','), issued_by: issuedBy, issued_at: issuedAt },
      ...{ until: until ?? null, last_used_at: null },
    })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'name_key']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return added !== undefined;
}

/** An action of a newer version is one that this version doesn't carry out. */
const action = z.enum(POWER_ACTIONS);

function toKey(row: WorkflowKeyRow): WorkflowKey {
  const actions = row.actions.split(',').flatMap((each) => action.safeParse(each).data ?? []);
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    actions,
    pattern: row.pattern,
    issuedBy: row.issued_by,
    issuedAt: row.issued_at,
    ...keepPresent({ until: row.until, lastUsedAt: row.last_used_at }),
  };
}

type RunRef = Pick<WorkflowRun, 'id' | 'workspaceId'>;

/** The runs of the app's step in workflows, each with the token that Slack gave for it, sealed. */
export function createWorkflowRuns(foundation: Foundation): WorkflowRuns {
  const { db, engine } = foundation;
  return {
    receive: (run, token, dueAt) => receive(foundation, run, token, dueAt),
    find: async (workspaceId, id) => {
      const row = await db
        .selectFrom('workflow_runs')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .executeTakeFirst();
      return row && toRun(row);
    },
    admit: (run, now, limit) => engine.transact(db, (trx) => admit(trx, run, now, limit)),
    ask: (run, { channelId, ts }, dueAt) =>
      isChanged(
        update(db, run)
          .set({ state: 'asking', card_channel_id: channelId, card_ts: ts, due_at: dueAt })
          .where('state', '=', 'received'),
      ),
    send: (run, by) => engine.transact(db, (trx) => send(trx, run, by)),
    end: (run, from, { code, details }, dueAt) =>
      isChanged(
        update(db, run)
          .set({
            ...{ state: 'ended', due_at: dueAt },
            ...{ outcome: code, outcome_details: JSON.stringify(details) },
          })
          .where('state', 'in', from),
      ),
    ...createDue(foundation),
    findToken: (run) => findToken(foundation, run),
    markTold: async (run) => {
      await update(db, run).set({ is_told: 1, sealed_token: null }).where('state', '=', 'ended').execute();
    },
  };
}

function createDue({ db }: Foundation): Pick<WorkflowRuns, 'listDue' | 'postpone' | 'removeBefore'> {
  return {
    listDue: async (now, limit) => {
      const rows = await db
        .selectFrom('workflow_runs')
        .selectAll()
        .where('is_told', '=', 0)
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .limit(limit)
        .execute();
      return rows.map(toRun);
    },
    postpone: async (run, dueAt) => {
      await update(db, run)
        .set({ due_at: dueAt })
        .where('state', '=', run.state)
        .where('is_told', '=', 0)
        .execute();
    },
    removeBefore: async (receivedAt) => {
      await db.deleteFrom('workflow_runs').where('received_at', '<', receivedAt).execute();
    },
  };
}

function update(db: Queries, { id, workspaceId }: RunRef) {
  return db.updateTable('workflow_runs').where('id', '=', id).where('workspace_id', '=', workspaceId);
}

async function isChanged(query: ReturnType<typeof update>): Promise<boolean> {
  return (await query.returning('id').executeTakeFirst()) !== undefined;
}

async function receive(
  { db, vault }: Foundation,
  run: NewRun,
  token: Secret<string> | undefined,
  dueAt: number,
): Promise<boolean> {
  const sealed = token === undefined ? null : vault.seal(token.reveal(), placeOf(run));
  const added = await db
    .insertInto('workflow_runs')
    .values({
      ...{ id: run.id, workspace_id: run.workspaceId, execution_id: run.executionId },
      ...{ action: run.action ?? null, label: run.label, channel_id: run.channelId ?? null },
      ...columnsOfKey(run.key),
      ...{ sealed_token: sealed, state: 'received', received_at: run.receivedAt, admitted_at: 0 },
      ...{ pressed_by: null, card_channel_id: null, card_ts: null, outcome: null, outcome_details: null },
      ...{ is_told: 0, due_at: dueAt },
    })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'execution_id']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return added !== undefined;
}

/** Once for each run: one that was counted before a crash is let through. */
async function admit(
  trx: Queries,
  run: WorkflowRun,
  now: number,
  { most, withinMs }: Parameters<WorkflowRuns['admit']>[2],
): Promise<boolean> {
  const { key_id: keyId, key_kind: kind } = columnsOfKey(run.key);
  const counts = trx
    .selectFrom('workflow_runs')
    .select(['id'])
    .where('workspace_id', '=', run.workspaceId)
    .where('key_kind', '=', kind)
    .where('key_id', '=', keyId)
    .where('admitted_at', '>', now - withinMs)
    .limit(most + 1);
  // Anyone can run one without a key: it must not keep those in other channels from running.
  const { channelId = '' } = run;
  const counted = await (kind === 'none' ? counts.where('channel_id', '=', channelId) : counts).execute();
  if (counted.some(({ id }) => id === run.id)) return true;
  if (counted.length >= most) return false;
  await update(trx, run).set({ admitted_at: now }).execute();
  return true;
}

async function send(
  trx: Queries,
  run: WorkflowRun,
  { now, pressedBy, dueAt }: Parameters<WorkflowRuns['send']>[1],
): Promise<'sent' | 'over' | 'key_gone'> {
  if (run.key.kind === 'key' && !(await useKey(trx, run, run.key.id, now))) return 'key_gone';
  const from = pressedBy === undefined ? 'received' : 'asking';
  const isMine = await isChanged(
    update(trx, run)
      .set({ state: 'sent', pressed_by: pressedBy ?? null, due_at: dueAt })
      .where('state', '=', from),
  );
  return isMine ? 'sent' : 'over';
}

/** False when the key was revoked, or has expired. */
async function useKey(trx: Queries, { workspaceId }: RunRef, keyId: string, now: number): Promise<boolean> {
  const used = await trx
    .updateTable('workflow_keys')
    .set({ last_used_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', keyId)
    .where((column) => column.or([column('until', 'is', null), column('until', '>', now)]))
    .returning('id')
    .executeTakeFirst();
  return used !== undefined;
}

/** A lost encryption key must not keep the run from ending: the app has a token of its own. */
async function findToken({ db, vault }: Foundation, run: WorkflowRun): Promise<Secret<string> | undefined> {
  const { id, workspaceId } = run;
  const row = await db
    .selectFrom('workflow_runs')
    .select('sealed_token')
    .where('id', '=', id)
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  const sealed = row?.sealed_token ?? undefined;
  try {
    return sealed === undefined ? undefined : new Secret(vault.open(sealed, placeOf(run)));
  } catch {
    return undefined;
  }
}

function placeOf({
  id,
  workspaceId,
}: {
  readonly id: WorkflowRunId;
  readonly workspaceId: string;
}): SealedPlace {
  return { table: 'workflow_runs', row: id, column: 'sealed_token', workspaceId };
}

/** A run out of its row. */
function toRun(row: WorkflowRunRow): WorkflowRun {
  const { card_channel_id: channelId, card_ts: ts } = row;
  const card: Card | null = channelId !== null && ts !== null ? { channelId, ts } : null;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    executionId: row.execution_id,
    label: row.label,
    key: keyOf(row),
    receivedAt: row.received_at,
    state: row.state,
    ...keepPresent({
      action: POWER_ACTIONS.find((each) => each === row.action) ?? null,
      channelId: row.channel_id,
      card,
      pressedBy: row.pressed_by,
      outcome: row.outcome === null ? null : readOutcome(row.outcome, row.outcome_details ?? '{}'),
    }),
  };
}

/** The columns that say with which key a run came. */
function columnsOfKey(key: RunKey) {
  const isKey = key.kind === 'key';
  return { key_kind: key.kind, key_id: isKey ? key.id : '', key_name: isKey ? key.name : '' };
}

function keyOf({ key_kind: kind, key_id: id, key_name: name }: WorkflowRunRow): RunKey {
  if (kind === 'key') return { kind, id, name };
  // What another version of the app wrote must not pass for a run that asks.
  return { kind: kind === 'none' ? 'none' : 'invalid' };
}

function readOutcome(code: string, details: string): RunOutcome {
  return { code, details: JSON.parse(details) } as RunOutcome;
}
