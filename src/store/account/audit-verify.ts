import type { AuditVerdict } from '../../app/account/ports.ts';
import type { Foundation } from '../engine/database.ts';
import { NO_LINK, readChain } from './audit-chain.ts';
import { describeGap, describeHead, findEntryFault, type ProvenChain, proveChain } from './audit-faults.ts';
import type { Link } from './audit-head.ts';
import { type FoundEntry, readPage } from './audit-pages.ts';

/** Goes through a chain from its beginning to its end, while others may add to it or prune it. */
export async function verifyAudit(foundation: Foundation, workspaceId: string): Promise<AuditVerdict> {
  for (;;) {
    const chain = await readChain(foundation.db, foundation.vault, workspaceId);
    const proven = proveChain(foundation, workspaceId, chain);
    if ('problem' in proven) return { ok: false, ...proven };
    const verdict = await walk(foundation, workspaceId, proven, chain.last.seq);
    if (verdict.ok) return verdict;
    // What is missing may have been pruned since the beginning was read.
    const after = await readChain(foundation.db, foundation.vault, workspaceId);
    if (after.pruned?.seq === chain.pruned?.seq) return verdict;
  }
}

async function walk(
  foundation: Foundation,
  workspaceId: string,
  { pruned, marks }: ProvenChain,
  newestAtStart: number,
): Promise<AuditVerdict> {
  let newest = newestAtStart;
  let link: Link = pruned ?? NO_LINK;
  let after: FoundEntry | undefined;
  let entries = 0;
  for (;;) {
    const page = await readPage(foundation.db, workspaceId, after);
    for (const entry of page) {
      const fault = findEntryFault(foundation, entry, link, newest, marks);
      if (fault) return { ok: false, ...fault };
      link = entry;
      after = entry;
      entries++;
    }
    if (page.length > 0) continue;
    if (link.seq < newest) return { ok: false, ...describeGap(link.seq + 1, newest) };
    // Read after the entries: what it knows of beyond these was added in the meantime.
    const { last } = await readChain(foundation.db, foundation.vault, workspaceId);
    if (last.seq < link.seq || (last.seq === link.seq && last.signature !== link.signature)) {
      return { ok: false, ...describeHead(link.seq) };
    }
    if (last.seq === link.seq) return describeWhole(link, entries, pruned);
    newest = last.seq;
  }
}

function describeWhole({ seq }: Link, entries: number, pruned: ProvenChain['pruned']): AuditVerdict {
  return {
    ok: true,
    entries,
    from: entries === 0 ? 0 : seq - entries + 1,
    to: entries === 0 ? 0 : seq,
    pruned: pruned && { count: pruned.count, at: pruned.at },
  };
}
