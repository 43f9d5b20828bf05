import type { InstallationStore } from '../../app/installations/ports.ts';
import type { Installation } from '../../domain/installation.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import type { InstallationRow } from '../engine/installation-tables.ts';
import { toRow } from './installation-rows.ts';

type TokenRecord = Pick<
  InstallationStore,
  | 'replaceTokens'
  | 'markRefreshRefused'
  | 'markTokenRefused'
  | 'listExpiring'
  | 'noteRevocation'
  | 'listRevocations'
  | 'noteRevocationCheck'
  | 'dropRevocation'
>;

/** Stores what happens to the tokens of an installation, and what events have said about them. */
export function createTokenRecord({ db, engine, vault }: Foundation): TokenRecord {
  return {
    replaceTokens: async (was, tokens) => {
      const { sealed, expires_at } = toRow({ ...was, tokens }, was.generation, vault);
      const isGood = { is_refresh_refused: 0, is_token_refused: 0 };
      const isChanged = await changeTokens(db, was, { sealed, expires_at, ...isGood });
      if (isChanged) await engine.scrub(db);
      return isChanged;
    },
    markRefreshRefused: async (was) => {
      await changeTokens(db, was, { is_refresh_refused: 1 });
    },
    markTokenRefused: async (was, isRefused) => {
      await changeTokens(db, was, { is_token_refused: isRefused ? 1 : 0 });
    },
    listExpiring: async (before) => {
      const rows = await db
        .selectFrom('installations')
        .select('id')
        .where('sealed', 'is not', null)
        .where('is_refresh_refused', '=', 0)
        .where('expires_at', '>', 0)
        .where('expires_at', '<=', before)
        .orderBy('expires_at')
        .execute();
      return rows.map(({ id }) => id);
    },
    noteRevocation: async (id, at) => {
      await db
        .updateTable('installations')
        .set({ revoked_at: at })
        .where('id', '=', id)
        .where('sealed', 'is not', null)
        .where('revoked_at', '<', at)
        .execute();
    },
    listRevocations: async () => {
      const rows = await db
        .selectFrom('installations')
        .select(['id', 'revoked_at', 'revocation_checked_at'])
        .where('revoked_at', '>', 0)
        .orderBy('revocation_checked_at')
        .orderBy('revoked_at')
        .execute();
      return rows.map((row) => ({
        id: row.id,
        revokedAt: row.revoked_at,
        checkedAt: row.revocation_checked_at,
      }));
    },
    noteRevocationCheck: async (id, at) => {
      await db.updateTable('installations').set({ revocation_checked_at: at }).where('id', '=', id).execute();
    },
    // A later event stays due.
    dropRevocation: async (id, revokedAt) => {
      await db
        .updateTable('installations')
        .set({ revoked_at: 0 })
        .where('id', '=', id)
        .where('revoked_at', '=', revokedAt)
        .execute();
    },
  };
}

/** Nothing is changed where other tokens are stored by now. */
async function changeTokens(
  db: Queries,
  was: Installation,
  columns: Partial<InstallationRow>,
): Promise<boolean> {
  const changed = await db
    .updateTable('installations')
    .set(columns)
    .where('id', '=', was.id)
    .where('generation', '=', was.generation)
    .where('expires_at', '=', was.tokens.rotation?.expiresAt ?? 0)
    .where('sealed', 'is not', null)
    .returning('id')
    .executeTakeFirst();
  return changed !== undefined;
}
