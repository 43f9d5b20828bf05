import type { Transaction } from 'kysely';
import type { Ledger, Versions } from '../../app/purchases/ports.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { CLOCK_SLACK_MS } from '../../domain/operation.ts';
import { lockVersions } from '../account/versions.ts';
import type { Foundation } from '../engine/database.ts';
import { CommitUnknown } from '../engine/errors.ts';
import type { Tables } from '../engine/tables.ts';
import { holdsLock } from '../locks.ts';
import { isInTheWay } from './ledger-rivals.ts';

type Sent = Parameters<Ledger['markSent']>[1];
type Attempt = { readonly attempt: number };

/** How often, and after which time, the outcome of a commit is looked for: a restart of the database takes seconds. */
const READ_BACKS = 10;
const READ_BACK_MS = 500;

/**
 * Marks an operation as sent. If the connection is lost while that is committed, it is read back by the number of the
 * attempt, and only what is found there counts as sent (docs/design.md 4.2).
 * @throws CommitUnknown when it could not be read back, or was not there; and what else the database throws
 */
export async function commitSent(
  foundation: Foundation,
  id: ConfirmationId,
  sent: Sent,
): ReturnType<Ledger['markSent']> {
  const { db, engine } = foundation;
  let attempted: Attempt | undefined;
  try {
    const outcome = await engine.transact(db, async (trx) => {
      const marked = await markSent(trx, foundation, id, sent);
      attempted = typeof marked === 'string' ? undefined : marked;
      return marked;
    });
    return typeof outcome === 'string' ? outcome : 'sent';
  } catch (error) {
    if (error instanceof OtherInTheWay) return 'outdated';
    if (!(error instanceof CommitUnknown) || !attempted) throw error;
    if (await isStored(foundation, id, sent.owner, attempted)) return 'sent';
    throw error;
  }
}

async function isStored(
  { db, engine }: Foundation,
  id: ConfirmationId,
  owner: string,
  { attempt }: Attempt,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      // An update waits for a commit that is still under way.
      const row = await db
        .updateTable('operations')
        .set({ attempt })
        .where('id', '=', id)
        .where('state', '=', 'sent')
        .where('sent_by', '=', owner)
        .where('attempt', '=', attempt)
        .returning('id')
        .executeTakeFirst();
      return row !== undefined;
    } catch (error) {
      if (tries >= READ_BACKS) throw error;
      await engine.clock.sleep(READ_BACK_MS);
    }
  }
}

/**
 * Only the owner that sent a request may send it again: to any other one it counts as sent. A clock that was set back
 * shortens the time to send, and never makes it longer.
 */
async function markSent(
  trx: Transaction<Tables>,
  { engine }: Foundation,
  id: ConfirmationId,
  { at, owner, account, knownIds, versions, lock }: Sent,
): Promise<'refused' | 'outdated' | Attempt> {
  if (lock && !(await holdsLock(trx, lock))) return 'refused';
  if (!(await isCurrent(trx, id, versions))) return 'outdated';
  const row = await trx
    .updateTable('operations')
    .set((column) => ({
      state: 'sent',
      sent_at: at,
      sent_by: owner,
      account,
      attempt: column('attempt', '+', 1),
      known_ids: JSON.stringify(knownIds),
    }))
    .where('id', '=', id)
    .where((column) =>
      column.or([
        column('state', '=', 'prepared'),
        column.and([column('state', '=', 'sent'), column('sent_by', '=', owner)]),
      ]),
    )
    // Also for a request that is sent again: a retry may have waited for minutes.
    .where('send_by', '>=', engine.moment(at, at))
    .where('created_at', '<=', engine.moment(at + CLOCK_SLACK_MS, at))
    .where('lease_owner', '=', owner)
    .where('lease_until', '>', engine.moment(at, at))
    .returning('attempt')
    .executeTakeFirst();
  if (row && (await isInTheWay(trx, id, account))) throw new OtherInTheWay();
  return row ?? 'refused';
}

/** Thrown to undo a transaction. */
class OtherInTheWay extends Error {}

/** Held until the transaction ends: who changes the key, a role or the settings then comes before it or after it. */
async function isCurrent(trx: Transaction<Tables>, id: ConfirmationId, looked: Versions): Promise<boolean> {
  const row = await trx
    .selectFrom('operations')
    .select('workspace_id')
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return true;
  const now = await lockVersions(trx, row.workspace_id);
  return now.key === looked.key && now.access === looked.access && now.settings === looked.settings;
}
