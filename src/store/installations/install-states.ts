import type { InstallStates } from '../../app/installations/ports.ts';
import type { Foundation } from '../engine/database.ts';

/** Anyone can begin an install, so there is a limit to what they can fill the database with. */
export const MOST_OPEN = 10_000;

/** The installs that are under way. */
export function createInstallStates({ db }: Pick<Foundation, 'db'>): InstallStates {
  return {
    put: async (hash, now, expiresAt) => {
      await db.deleteFrom('install_states').where('expires_at', '<=', now).execute();
      const { open } = await db
        .selectFrom('install_states')
        .select((column) => column.fn.countAll().as('open'))
        .executeTakeFirstOrThrow();
      if (Number(open) >= MOST_OPEN) return false;
      await db.insertInto('install_states').values({ hash, expires_at: expiresAt }).execute();
      return true;
    },
    take: async (hash, now) => {
      const taken = await db
        .deleteFrom('install_states')
        .where('hash', '=', hash)
        .returning('expires_at')
        .executeTakeFirst();
      return taken !== undefined && taken.expires_at > now;
    },
  };
}
