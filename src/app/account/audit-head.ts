import type { Log } from '../../log.ts';
import type { AuditHead, AuditLog } from './ports.ts';

/** Reads a published head, written as `<seq>:<signature>`. Undefined for anything else. */
export function parseAuditHead(text: string): AuditHead | undefined {
  const [, seq, signature] = /^([1-9]\d{0,14}):(v1\.[\w-]{1,32}\.[\w-]+)$/.exec(text.trim()) ?? [];
  return seq === undefined || signature === undefined ? undefined : { seq: Number(seq), signature };
}

/**
 * Writes the newest entry of every chain to the log: evidence that can't be removed through the database alone
 * (docs/decisions/0006-the-audit-is-a-signed-chain.md).
 */
export async function publishAuditHeads(ports: {
  readonly audit: Pick<AuditLog, 'listHeads'>;
  readonly log: Pick<Log, 'info'>;
}): Promise<void> {
  for (const { workspaceId, seq, signature } of await ports.audit.listHeads()) {
    ports.log.info('audit head', { workspaceId, seq, signature });
  }
}
