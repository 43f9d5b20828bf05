import type { Protections } from '../../app/servers/ports.ts';
import type { Foundation } from '../engine/database.ts';

/** The servers that owners protect. */
export function createProtections({ db }: Foundation): Protections {
  return {
    find: async (workspaceId, serverId) => {
      const row = await db
        .selectFrom('protected_servers')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('server_id', '=', serverId)
        .executeTakeFirst();
      return row && { serverId, protectedBy: row.protected_by, protectedAt: row.protected_at };
    },
    put: async (workspaceId, { serverId, protectedBy, protectedAt }) => {
      await db
        .insertInto('protected_servers')
        .values({
          workspace_id: workspaceId,
          server_id: serverId,
          protected_by: protectedBy,
          protected_at: protectedAt,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
    remove: async (workspaceId, serverId) => {
      await db
        .deleteFrom('protected_servers')
        .where('workspace_id', '=', workspaceId)
        .where('server_id', '=', serverId)
        .execute();
    },
  };
}
