import type { AuditFault, AuditHead } from '../../app/account/ports.ts';
import type { Foundation } from '../engine/database.ts';
import { readChain } from './audit-chain.ts';
import { describeGap } from './audit-faults.ts';

/** Says what is wrong when a chain that is whole in itself does not go on from a head that was published. */
export async function findHeadFault(
  { db, vault }: Pick<Foundation, 'db' | 'vault'>,
  workspaceId: string,
  published: AuditHead,
): Promise<AuditFault | undefined> {
  const { last, pruned } = await readChain(db, vault, workspaceId);
  const { seq } = published;
  if (seq > last.seq) return describeGap(last.seq + 1, seq);
  // Pruned entries are gone, other than the signature of the last one.
  if (pruned && seq < pruned.seq) return undefined;
  const found = pruned?.seq === seq ? pruned : await findEntry({ db }, workspaceId, seq);
  if (found?.signature === published.signature) return undefined;
  const words = `Entry ${seq} is not the one that was published: the audit was put back to an earlier state and continued.`;
  return { seq, problem: 'head', words };
}

async function findEntry({ db }: Pick<Foundation, 'db'>, workspaceId: string, seq: number) {
  return db
    .selectFrom('audit')
    .select('signature')
    .where('workspace_id', '=', workspaceId)
    .where('seq', '=', seq)
    .executeTakeFirst();
}
