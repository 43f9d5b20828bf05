import { Kysely } from 'kysely';
import type { System } from '../system.ts';
import type { Vault } from '../vault.ts';
import { openEngine } from './engine/database.ts';
import type { Tables } from './engine/tables.ts';
import { findLostOrder } from './find-restore.ts';
import { createLastSent } from './last-sent.ts';
import { refuseMoved } from './moves.ts';
import { bringUp } from './open-store.ts';
import { markRestored, type Restored } from './restores.ts';

interface Declaration {
  readonly databaseUrl: string;
  /** `SPILL_DIR`. */
  readonly spillDir?: string | undefined;
  readonly vault: Vault;
  readonly system: System;
  /** Tests bring their own clock. */
  readonly openEngine?: typeof openEngine;
}

/**
 * Takes the operator's word that the database was restored from a backup, before the app is started on it.
 * Money effect: nothing that the backup has as confirmed is sent.
 * @throws DatabaseInUse, DatabaseUnusable: each with a sentence for the operator
 */
export async function declareRestored(declaration: Declaration): Promise<Restored> {
  const { databaseUrl, spillDir, vault, system, openEngine: open = openEngine } = declaration;
  const engine = await open(databaseUrl, { lock: true, mustExist: true, system });
  const db = new Kysely<Tables>({ dialect: engine.dialect });
  try {
    await bringUp(db, engine, vault);
    await refuseMoved(db);
    const foundation = { db, engine, vault, newId: () => engine.clock.newId() };
    const lastSent = createLastSent(spillDir ?? engine.besidePath?.('spill'), foundation.newId);
    // Noted with it, so that the app does not find the same restore again.
    const by = { isCommand: true, orderId: await findLostOrder(foundation, lastSent) };
    return await markRestored(foundation, engine.clock.now(), by);
  } finally {
    await db.destroy().finally(() => engine.close());
  }
}
