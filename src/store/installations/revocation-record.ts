import type { InstallationStore } from '../../app/installations/ports.ts';
import type { Foundation, Queries } from '../engine/database.ts';
import { changeTokens } from './token-record.ts';

type RevocationRecord = Pick<
  InstallationStore,
  'noteRevocation' | 'listRevocations' | 'noteRevocationCheck' | 'setRevocationAside' | 'dropRevocation'
>;

/** How many are checked in one sweep: each takes calls of Slack's API, one after the other. */
const MOST_AT_ONCE = 20;

/** Stores uninstalls that events have reported, until each is confirmed or disproved. */
export function createRevocationRecord({ db, engine }: Foundation): RevocationRecord {
  return {
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
        .select(['id', 'revoked_at'])
        .where('revoked_at', '>', 0)
        .orderBy('revocation_checked_at')
        .orderBy('revoked_at')
        .limit(MOST_AT_ONCE)
        .execute();
      return rows.map(({ id, revoked_at }) => ({ id, revokedAt: revoked_at }));
    },
    noteRevocationCheck: async (id, at) => {
      await db.updateTable('installations').set({ revocation_checked_at: at }).where('id', '=', id).execute();
    },
    setRevocationAside: (was, revokedAt) =>
      engine.transact(db, async (trx) => {
        const before = await trx
          .selectFrom('installations')
          .select('unproven_revoked_at')
          .where('id', '=', was.id)
          .executeTakeFirst();
        const isSame = await changeTokens(trx, was, { unproven_revoked_at: revokedAt });
        if (isSame) await drop(trx, was.id, revokedAt);
        return isSame && before?.unproven_revoked_at === 0;
      }),
    dropRevocation: (id, revokedAt) => drop(db, id, revokedAt),
  };
}

/** A later event stays due. */
async function drop(db: Queries, id: string, revokedAt: number): Promise<void> {
  await db
    .updateTable('installations')
    .set({ revoked_at: 0 })
    .where('id', '=', id)
    .where('revoked_at', '=', revokedAt)
    .execute();
}
