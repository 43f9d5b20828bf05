import type { Passwords } from '../../app/purchases/ports.ts';
import { addAudit } from '../account/audit.ts';
import { readVersions } from '../account/versions.ts';
import type { Foundation } from '../engine/database.ts';

/** Erases a root password whose creator is gone (docs/design.md 5). It stays sealed. */
export function createErasure(foundation: Foundation): Pick<Passwords, 'eraseAudited'> {
  const { db, engine } = foundation;
  return {
    eraseAudited: async (operationId, seen, audit) => {
      const outcome = await engine.transact(db, async (trx) => {
        const { access } = await readVersions(trx, audit.workspaceId);
        if (access !== seen) return 'outdated';
        const erased = await trx
          .deleteFrom('passwords')
          .where('operation_id', '=', operationId)
          .where('workspace_id', '=', audit.workspaceId)
          .returning('operation_id')
          .executeTakeFirst();
        if (!erased) return 'gone';
        await addAudit(trx, foundation, audit);
        return 'erased';
      });
      if (outcome === 'erased') await engine.scrub(db);
      return outcome;
    },
  };
}
