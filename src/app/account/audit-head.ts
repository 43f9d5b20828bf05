import { HOUR_MS, MINUTE_MS } from '../../domain/time.ts';
import type { AppContext } from '../ports.ts';
import type { AuditHead } from './ports.ts';

/** Reads a published head, written as `<seq>:<signature>`. Undefined for anything else. */
export function parseAuditHead(text: string): AuditHead | undefined {
  const [, seq, signature] = /^([1-9]\d{0,14}):(v1\.[\w-]{1,32}\.[\w-]+)$/.exec(text.trim()) ?? [];
  return seq === undefined || signature === undefined ? undefined : { seq: Number(seq), signature };
}

/** How often the heads are published. */
export const PUBLISH_MS = HOUR_MS;
/** Longer than that, so that an entry whose transaction took its time is not missed. */
const GROWN_WITHIN_MS = PUBLISH_MS + 10 * MINUTE_MS;

/**
 * Makes what writes the newest entry of each chain to the log: evidence that can't be removed through the database alone
 * (docs/decisions/0006-the-audit-is-a-signed-chain.md). A chain that has not grown since is left out, so that workspaces that
 * no one uses cost nothing. What a killed process has not published lies within the last hour before the newest entry.
 */
export function createAuditPublisher({ audit, log }: Pick<AppContext, 'audit' | 'log'>): () => Promise<void> {
  let published: ReadonlyMap<string, string> = new Map();
  return async () => {
    const heads = await audit.listHeads(GROWN_WITHIN_MS);
    for (const { workspaceId, seq, signature } of heads) {
      if (published.get(workspaceId) === signature) continue;
      log.info('audit head', { workspaceId, seq, signature });
    }
    published = new Map(heads.map(({ workspaceId, signature }) => [workspaceId, signature]));
  };
}
