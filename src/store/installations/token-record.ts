import type { InstallationStore } from '../../app/installations/ports.ts';
import type { LockOwner } from '../../app/locks.ts';
import type { Installation } from '../../domain/installation.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { InstallationRow } from '../engine/installation-tables.ts';
import { holdsLock } from '../locks.ts';
import { toRow } from './installation-rows.ts';

type TokenRecord = Pick<
  InstallationStore,
  'replaceTokens' | 'markRefreshSent' | 'markRefreshUnsent' | 'markRefreshRefused' | 'markTokenRefused'
>;

/** Stores what happens to the tokens of an installation, and whether its refresh token may have been used up. */
export function createTokenRecord({ db, engine, vault }: Foundation): TokenRecord {
  return {
    replaceTokens: async (was, tokens) => {
      const { sealed, expires_at, unspent_expires_at } = toRow({ ...was, tokens }, was.generation, vault);
      const isGood = { is_refresh_refused: 0, is_token_refused: 0, unproven_revoked_at: 0 };
      const isChanged = await changeTokens(db, was, { sealed, expires_at, unspent_expires_at, ...isGood });
      if (isChanged) await engine.scrub(db);
      return isChanged;
    },
    markRefreshSent: (was, lock) =>
      engine.transact(db, async (trx) => {
        if (!(await holdsLock(trx, lock))) return false;
        return changeTokens(trx, was, { unspent_expires_at: null });
      }),
    markRefreshUnsent: (was, lock) =>
      engine.transact(db, async (trx) => {
        if (await isUnspent(trx, was, lock)) await changeTokens(trx, was, unspent(was));
      }),
    markRefreshRefused: (was, lock) =>
      engine.transact(db, async (trx) => {
        const isProof = await isUnspent(trx, was, lock);
        const isChanged = await changeTokens(trx, was, {
          is_refresh_refused: 1,
          ...(isProof && unspent(was)),
        });
        return isProof && isChanged;
      }),
    markTokenRefused: async (was, isRefused) => {
      await changeTokens(db, was, { is_token_refused: isRefused ? 1 : 0 });
    },
  };
}

/** Without the lock, this process doesn't know what another one has sent since. */
async function isUnspent(trx: Queries, was: Installation, lock: LockOwner): Promise<boolean> {
  return !was.mayRefreshBeSpent && (await holdsLock(trx, lock));
}

const expiryOf = ({ tokens }: Installation): number => tokens.rotation?.expiresAt ?? 0;
const unspent = (was: Installation) => ({ unspent_expires_at: expiryOf(was) });

/** False, and nothing is changed, where other tokens are stored by now. */
export async function changeTokens(
  trx: Queries,
  was: Installation,
  columns: Partial<InstallationRow>,
): Promise<boolean> {
  const changed = await trx
    .updateTable('installations')
    .set(columns)
    .where('id', '=', was.id)
    .where('generation', '=', was.generation)
    .where('expires_at', '=', expiryOf(was))
    .where('sealed', 'is not', null)
    .returning('id')
    .executeTakeFirst();
  return changed !== undefined;
}
