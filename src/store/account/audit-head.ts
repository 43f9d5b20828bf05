import { z } from 'zod';
import { isRefusal } from '../../domain/errors.ts';
import type { Vault } from '../../vault.ts';
import type { Queries } from '../engine/database.ts';

/** An entry as its neighbours know it; 0 and '' before the first one. */
export interface Link {
  readonly seq: number;
  readonly signature: string;
}

export const link = z.object({ seq: z.number().int(), signature: z.string() });

/** The newest entry of a chain, kept beside the chain and signed for itself. */
export interface SignedHead {
  readonly head: string;
  readonly signature: string;
}

const PURPOSE = 'audit head';

/** Reads the head that was kept; others may change it. */
export async function readHead(db: Queries, workspaceId: string): Promise<SignedHead | undefined> {
  return db
    .selectFrom('audit_heads')
    .select(['head', 'signature'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
}

/** Lists the heads of chains as they are kept: of all, or of those that have grown lately. */
export async function listHeads(
  db: Queries,
  withinMs: number | undefined,
): Promise<readonly (Link & { readonly workspaceId: string })[]> {
  const since = withinMs === undefined ? '' : await findIdBefore(db, withinMs);
  const rows = await db
    .selectFrom('audit_heads')
    .select(['workspace_id', 'head'])
    .$if(since !== '', (heads) =>
      heads.where('workspace_id', 'in', (query) =>
        query.selectFrom('audit').select('workspace_id').where('id', '>=', since),
      ),
    )
    .orderBy('workspace_id')
    .execute();
  return rows.flatMap(({ workspace_id, head }) => {
    const link = parseHead(head);
    return link ? [{ workspaceId: workspace_id, ...link }] : [];
  });
}

/** The smallest ID of that time before the newest entry of all: IDs begin with the time. '' where there is no entry. */
async function findIdBefore(db: Queries, ms: number): Promise<string> {
  const newest = await db.selectFrom('audit').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst();
  return newest ? writeTime(Math.max(0, readTime(newest.id) - ms)) : '';
}

/** Crockford's base 32, as in a ULID. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_LENGTH = 10;

function readTime(id: string): number {
  return [...id.slice(0, TIME_LENGTH)].reduce((time, digit) => time * 32 + DIGITS.indexOf(digit), 0);
}

function writeTime(time: number): string {
  const digits = Array.from({ length: TIME_LENGTH }, (_, at) => Math.floor(time / 32 ** at) % 32);
  return digits
    .reverse()
    .map((digit) => DIGITS[digit])
    .join('');
}

/** Undefined for what wasn't written by this app; `verify` finds it. */
function parseHead(head: string): Link | undefined {
  try {
    return link.parse(JSON.parse(head));
  } catch {
    return undefined;
  }
}

/** Keeps the newest entry of a chain, within the transaction that changes it. */
export async function keepHead(
  db: Queries,
  vault: Vault,
  workspaceId: string,
  { seq, signature }: Link,
): Promise<void> {
  const head = JSON.stringify({ seq, signature });
  const row = { head, signature: vault.sign(writeHead(workspaceId, head), PURPOSE) };
  await db
    .insertInto('audit_heads')
    .values({ workspace_id: workspaceId, ...row })
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(row))
    .execute();
}

/** Whether this head was kept for this entry. Before the first entry there is none. */
export function isHead(
  vault: Vault,
  workspaceId: string,
  found: SignedHead | undefined,
  { seq, signature }: Link,
): boolean {
  if (!found) return seq === 0;
  if (found.head !== JSON.stringify({ seq, signature })) return false;
  return isSigned(vault, workspaceId, found);
}

/** The chain's own note is signed under the same key and says which one is missing. */
function isSigned(vault: Vault, workspaceId: string, { head, signature }: SignedHead): boolean {
  try {
    return vault.isSigned(signature, writeHead(workspaceId, head), PURPOSE);
  } catch (error) {
    if (isRefusal(error, 'key_unreadable')) return false;
    throw error;
  }
}

function writeHead(workspaceId: string, head: string): string {
  return JSON.stringify([workspaceId, head]);
}
