import { createHash } from 'node:crypto';
import type { PostedMessage, UserId, WorkflowKeyId, WorkflowRunId, WorkspaceId } from '../core/ids.ts';
import type { WorkflowKey } from '../core/roles.ts';
import { Secret } from '../core/secret.ts';
import { POWER_ACTIONS } from '../core/server.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { addJob, removeJob } from '../db/jobs.ts';
import type { WorkflowKeyRow, WorkflowRunRow } from '../db/tables.ts';
import type { SealedPlace } from '../db/vault.ts';
import type { NewRun, RunOutcome, RunState, WorkflowRun } from './run.ts';

/** The kind of job that continues a run until Slack knows how it ended; its key is the run's ID. */
export const RUN = 'run';

/** The beginning of every key, by which scanners for leaked secrets, and people, recognize one. */
export const KEY_PREFIX = 'vpswf_';

/** Hashes a workflow key with its workspace, so that the stored hash opens nothing in another one. */
export function hashKey(key: Secret<string>, workspaceId: WorkspaceId): string {
  return createHash('sha256')
    .update(JSON.stringify(['workflow key', workspaceId, key.reveal()]))
    .digest('hex');
}

/** Stores the workflow keys of each workspace, with a hash of the key only. An expired one stays until it is revoked. */
export function createWorkflowKeys({ db }: Foundation) {
  const first = async (workspaceId: string, column: 'id' | 'hash', value: string) => {
    const row = await db
      .selectFrom('workflow_keys')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where(column, '=', value)
      .executeTakeFirst();
    return row && toKey(row);
  };
  return {
    /** Adds a key; false if the workspace has one of that name. */
    add: async (key: WorkflowKey & { readonly hash: string }): Promise<boolean> => {
      const { id, workspaceId, name, hash, actions, pattern, issuedBy, issuedAt, until } = key;
      const added = await db
        .insertInto('workflow_keys')
        .values({
          id,
          workspace_id: workspaceId,
          name,
          name_key: name.toLowerCase(),
          hash,
          pattern,
          actions: actions.join(','),
          issued_by: issuedBy,
          issued_at: issuedAt,
          until: until ?? null,
          last_used_at: null,
        })
        .onConflict((conflict) => conflict.columns(['workspace_id', 'name_key']).doNothing())
        .returning('id')
        .executeTakeFirst();
      return added !== undefined;
    },
    find: (workspaceId: WorkspaceId, id: WorkflowKeyId) => first(workspaceId, 'id', id),
    findByHash: (workspaceId: WorkspaceId, hash: string) => first(workspaceId, 'hash', hash),
    /** Oldest first. */
    list: async (workspaceId: WorkspaceId): Promise<readonly WorkflowKey[]> => {
      const rows = await db
        .selectFrom('workflow_keys')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .orderBy('issued_at')
        .orderBy('id')
        .execute();
      return rows.map(toKey);
    },
    remove: async (workspaceId: WorkspaceId, id: WorkflowKeyId) => {
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

function toKey(row: WorkflowKeyRow): WorkflowKey {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    actions: row.actions.split(',').flatMap((each) => POWER_ACTIONS.find((action) => action === each) ?? []),
    pattern: row.pattern,
    issuedBy: row.issued_by,
    issuedAt: row.issued_at,
    until: row.until ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
  };
}

/**
 * Stores the runs of the app's step in workflows, each with the token that Slack gave for it, sealed. Each change names the state that it
 * starts from, so that only one process makes it.
 */
export function createWorkflowRuns(foundation: Foundation) {
  const { db, engine, vault } = foundation;
  return {
    /** Stores a run with its token, and adds its job. False if that execution was stored before. */
    receive: (run: NewRun, token: Secret<string> | undefined): Promise<boolean> =>
      engine.transact(db, async (trx) => {
        const { id: key, workspaceId } = run;
        const sealed = token === undefined ? null : vault.seal(token.reveal(), placeOfRunToken(run));
        const added = await trx
          .insertInto('workflow_runs')
          .values({
            id: key,
            workspace_id: workspaceId,
            execution_id: run.executionId,
            action: run.action ?? null,
            label: run.label,
            channel_id: run.channelId ?? null,
            key_kind: run.key.kind,
            key_id: run.key.id,
            key_name: run.key.name,
            sealed_token: sealed,
            state: 'received',
            received_at: run.receivedAt,
          })
          .onConflict((conflict) => conflict.columns(['workspace_id', 'execution_id']).doNothing())
          .returning('id')
          .executeTakeFirst();
        // Due at once, for whichever process gets to it first.
        if (added) await addJob(trx, foundation, { kind: RUN, key, workspaceId, dueAt: engine.clock.now() });
        return added !== undefined;
      }),
    find: async (workspaceId: WorkspaceId, id: WorkflowRunId) => {
      const row = await db
        .selectFrom('workflow_runs')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .executeTakeFirst();
      return row && toRun(row);
    },
    /**
     * Whether fewer than `most` other runs of the same key, or without one in the same channel, were received in the time before this
     * one, and not refused for that.
     */
    isWithinLimit: async (run: WorkflowRun, limit: { most: number; withinMs: number }): Promise<boolean> => {
      const { most, withinMs } = limit;
      const { channelId = '' } = run;
      const earlier = db
        .selectFrom('workflow_runs')
        .select('id')
        .where('workspace_id', '=', run.workspaceId)
        .where('key_kind', '=', run.key.kind)
        .where('key_id', '=', run.key.id)
        .where('id', '<', run.id)
        .where('received_at', '>', run.receivedAt - withinMs)
        .where((column) => column.or([column('outcome', 'is', null), column('outcome', '<>', 'too_many')]))
        // Anyone can run a step without a key, which must not keep those in other channels from running.
        .$if(run.key.kind === 'none', (query) => query.where('channel_id', '=', channelId))
        .limit(most);
      return (await earlier.execute()).length < most;
    },
    /** Moves a run from received to asking, with its card. */
    ask: async (run: WorkflowRun, { channelId, ts }: PostedMessage): Promise<void> => {
      const columns = { state: 'asking', card_channel_id: channelId, card_ts: ts } as const;
      await update(db, run).set(columns).where('state', '=', 'received').execute();
    },
    /**
     * received or asking → sent, in one transaction with a last look at the workflow key, which may have been revoked. `sent`:
     * the request may leave now, for the only time.
     */
    send: (
      run: WorkflowRun,
      { now, pressedBy }: { now: number; pressedBy?: UserId | undefined },
    ): Promise<'sent' | 'over' | 'key_gone'> =>
      engine.transact(db, async (trx) => {
        if (run.key.kind === 'key' && !(await useKey(trx, run, run.key.id, now))) return 'key_gone';
        const from = pressedBy === undefined ? 'received' : 'asking';
        const columns = { state: 'sent', pressed_by: pressedBy ?? null } as const;
        const sent = update(trx, run).set(columns).where('state', '=', from).returning('id');
        return (await sent.executeTakeFirst()) ? 'sent' : 'over';
      }),
    /** Ends a run from one of these states; undefined if it is in another one. */
    end: async (run: WorkflowRun, from: readonly RunState[], { code, details }: RunOutcome) => {
      const columns = { state: 'ended', outcome: code, outcome_details: JSON.stringify(details) } as const;
      const row = await update(db, run)
        .set(columns)
        .where('state', 'in', from)
        .returningAll()
        .executeTakeFirst();
      return row && toRun(row);
    },
    /** Finds the token that Slack gave for this run; undefined if there was none, or it can't be opened. */
    findToken: async (run: WorkflowRun): Promise<Secret<string> | undefined> => {
      const { id, workspaceId } = run;
      const row = await db
        .selectFrom('workflow_runs')
        .select('sealed_token')
        .where('id', '=', id)
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst();
      const sealed = row?.sealed_token ?? undefined;
      try {
        return sealed === undefined ? undefined : new Secret(vault.open(sealed, placeOfRunToken(run)));
      } catch {
        // A lost encryption key must not keep the run from ending: the app has a token of its own.
        return undefined;
      }
    },
    /** Erases the token and removes the job, once Slack knows the outcome. */
    markTold: (run: WorkflowRun) =>
      engine.transact(db, async (trx) => {
        await update(trx, run).set({ sealed_token: null }).execute();
        await removeJob(trx, RUN, run.id);
      }),
    /** Removes runs that Slack can't deliver again, by the time when they were received (epoch ms). */
    removeBefore: async (receivedAt: number) => {
      await db.deleteFrom('workflow_runs').where('received_at', '<', receivedAt).execute();
    },
  };
}

function update(db: Queries, { id, workspaceId }: NewRun) {
  return db.updateTable('workflow_runs').where('id', '=', id).where('workspace_id', '=', workspaceId);
}

/** Notes that a key is used; false if it was revoked or has expired. */
async function useKey(trx: Queries, { workspaceId }: NewRun, keyId: string, now: number): Promise<boolean> {
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

export function placeOfRunToken(run: { readonly id: string; readonly workspaceId: string }): SealedPlace {
  return { table: 'workflow_runs', row: run.id, column: 'sealed_token', workspaceId: run.workspaceId };
}

function toRun(row: WorkflowRunRow): WorkflowRun {
  const { card_channel_id: channelId, card_ts: ts } = row;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    executionId: row.execution_id,
    label: row.label,
    key: { kind: row.key_kind, id: row.key_id, name: row.key_name },
    receivedAt: row.received_at,
    state: row.state,
    action: POWER_ACTIONS.find((each) => each === row.action),
    channelId: row.channel_id ?? undefined,
    card: channelId !== null && ts !== null ? { channelId, ts } : undefined,
    pressedBy: row.pressed_by ?? undefined,
    outcome:
      row.outcome === null
        ? undefined
        : ({ code: row.outcome, details: JSON.parse(row.outcome_details ?? '{}') } as RunOutcome),
  };
}
