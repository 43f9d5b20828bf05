import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ConfirmationId } from '../core/ids.ts';
import type { Foundation, Queries } from './database.ts';
import { markRestored } from './moves.ts';

const FOUND =
  'The database is older than an order that was sent from here, so it was restored from a backup, or has lost commits. ' +
  'Orders that were confirmed or sent in the backup are now unconfirmed, and requests for approval were canceled. ' +
  'Compare the hosting account with /vps list before anyone orders again.';

/**
 * Looks whether the database knows the last order that was sent from here. If it doesn't, it was put back to an earlier
 * state, and is treated so once. Returns what the operator has to know.
 */
export async function findRestore(foundation: Foundation, lastSent: LastSent): Promise<readonly string[]> {
  const { db, engine } = foundation;
  const orderId = await findLostOrder(foundation, lastSent);
  if (orderId === undefined || (await isNoted(db, orderId))) return [];
  await markRestored(foundation, engine.clock.now(), { isCommand: false, orderId });
  return [FOUND];
}

/** The order that was sent last from here, if this database has sent it and doesn't know that. */
export async function findLostOrder(
  foundation: Foundation,
  lastSent: LastSent,
): Promise<ConfirmationId | undefined> {
  const last = lastSent.read();
  // Of another database that keeps its notes in the same folder, or did so before.
  if (last?.store !== (await identify(foundation))) return undefined;
  const known = await foundation.db
    .selectFrom('operations')
    .select('id')
    .where('id', '=', last.order)
    .where('state', '<>', 'prepared')
    .executeTakeFirst();
  return known ? undefined : last.order;
}

/** The ID that the database was given at its first start, and that each backup of it has. */
export async function identify({ db, engine, newId }: Foundation): Promise<string> {
  await db
    .insertInto('facts')
    .values({ kind: 'identity', id: '', value: newId(), at: engine.clock.now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { value } = await db
    .selectFrom('facts')
    .select('value')
    .where('kind', '=', 'identity')
    .executeTakeFirstOrThrow();
  return value;
}

/** Whether a restore has been found by this order before. */
async function isNoted(db: Queries, orderId: ConfirmationId): Promise<boolean> {
  const row = await db
    .selectFrom('facts')
    .select('id')
    .where('kind', '=', 'restored')
    .where('value', '=', orderId)
    .executeTakeFirst();
  return row !== undefined;
}

const sentOrder = z.object({
  /** The identity of the database. */
  store: z.string().min(1),
  order: z.string().min(1),
});

/** Which order was sent last from here, and from which database. */
interface SentOrder {
  readonly store: string;
  readonly order: ConfirmationId;
}

/**
 * Keeps it in a file that no backup of the database puts back: a copy of the database that does not know the order is older
 * than that (docs/design.md 4.12).
 */
export interface LastSent {
  /** Called after the database has stored that it was sent, and before the request leaves. */
  write(sent: SentOrder): void;
  /** Undefined where nothing was sent from here, or the file is gone. */
  read(): SentOrder | undefined;
  /** Why nothing can be noted, in a sentence for the operator. */
  readonly fault: string | undefined;
}

const NAME = 'last-sent.json';

/** Keeps it in this folder, for its owner only; nowhere for a database in memory. `newId` keeps processes apart. */
export function createLastSent(folder: string | undefined, newId: () => string): LastSent {
  if (folder === undefined) return { write: () => undefined, read: () => undefined, fault: undefined };
  const path = join(folder, NAME);
  return {
    write: (sent) => {
      // The order itself is stored: that a restore could not be noticed later is no reason to refuse it.
      try {
        replace(path, `${path}.${newId()}.part`, JSON.stringify(sent));
      } catch {}
    },
    read: () => read(path),
    fault: findFault(folder),
  };
}

function replace(path: string, part: string, text: string): void {
  const file = openSync(part, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(part, path);
}

function read(path: string): SentOrder | undefined {
  try {
    return sentOrder.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

function findFault(folder: string): string | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    return (
      `The folder ${folder} can't be written to: responses to paid orders can't be kept there, and the app ` +
      'would not notice that the database was restored from a backup.'
    );
  }
}
