import type { Transaction } from 'kysely';
import { z } from 'zod';
import { isRefusal } from '../../domain/errors.ts';
import type { Vault } from '../../vault.ts';
import type { Queries } from '../engine/database.ts';
import type { AuditRow, Tables } from '../engine/tables.ts';
import { isHead, keepHead, type Link, link, readHead, type SignedHead } from './audit-head.ts';

/** Where the chain of a workspace begins and ends. */
export interface ChainEnds {
  readonly last: Link;
  /** The newest entry that was pruned, how many were in all, and when. */
  readonly pruned?: Link & { readonly count: number; readonly at: number };
  /**
   * What stood here before, when it could not be proven. The chain goes on, since no payment may fail over its audit,
   * but is not whole before this is: it was altered, or the key comes back.
   */
  readonly inherited?: SignedEnds;
}

export interface SignedEnds {
  readonly ends: string;
  readonly signature: string;
}

const chainEnds: z.ZodType<ChainEnds> = z.object({
  last: link,
  pruned: link.extend({ count: z.number().int(), at: z.number() }).exactOptional(),
  inherited: z.object({ ends: z.string(), signature: z.string() }).exactOptional(),
});

/** Reads the ends that `signEnds` wrote. @throws ZodError when they are something else */
export function parseEnds(ends: string): ChainEnds {
  return chainEnds.parse(JSON.parse(ends));
}

export type Verdict = 'signed' | 'altered' | { readonly lostKey: string };

export const NO_LINK: Link = { seq: 0, signature: '' };

/** Every column that is signed; the compiler asks for a new one here. */
const SIGNED: Readonly<Record<Exclude<keyof AuditRow, 'signature'>, true>> = {
  id: true,
  workspace_id: true,
  seq: true,
  previous: true,
  at: true,
  actor_id: true,
  channel_id: true,
  surface: true,
  action: true,
  act_id: true,
  server_id: true,
  label: true,
  label_key: true,
  outcome: true,
  code: true,
  operation_id: true,
  money: true,
};
export const SIGNED_COLUMNS = Object.keys(SIGNED) as readonly (keyof typeof SIGNED)[];

type Cells = Readonly<Record<(typeof SIGNED_COLUMNS)[number], string | number | null>>;

/** Signs an entry for its place in the chain. */
export function signEntry(vault: Vault, row: Cells): string {
  return vault.sign(writeEntry(row), 'audit entry');
}

/** Judges the signature of an entry as it is found; numbers may come as text. */
export function judgeEntry(vault: Vault, row: Cells, signature: string): Verdict {
  return judge(vault, signature, writeEntry(row), 'audit entry');
}

/** Judges the signature of a chain's ends; they are read only when it is right. */
export function judgeEnds(vault: Vault, workspaceId: string, { ends, signature }: SignedEnds): Verdict {
  return judge(vault, signature, writeEnds(workspaceId, ends), 'audit chain');
}

/** Reads where a chain begins and ends; it may grow while it is read. */
export async function readChain(db: Queries, vault: Vault, workspaceId: string): Promise<ChainEnds> {
  // In one statement: others may add an entry between two.
  const found = await db
    .selectFrom('audit_chains')
    .leftJoin('audit_heads', 'audit_heads.workspace_id', 'audit_chains.workspace_id')
    .select(['audit_chains.ends', 'audit_chains.signature'])
    .select(['audit_heads.head', 'audit_heads.signature as head_signature'])
    .where('audit_chains.workspace_id', '=', workspaceId)
    .executeTakeFirst();
  const { head, head_signature: signature } = found ?? {};
  const kept = head && signature ? { head, signature } : undefined;
  return believe(db, vault, workspaceId, found, found ? kept : await readHead(db, workspaceId));
}

/**
 * Locks the chain of a workspace: no other transaction adds to it or prunes it before this one has ended. `operationId`
 * is the operation that the same transaction writes.
 */
export async function takeChain(
  trx: Transaction<Tables>,
  vault: Vault,
  workspaceId: string,
  operationId = '',
): Promise<ChainEnds> {
  const found = await lockChain(trx, workspaceId);
  if (found) return believe(trx, vault, workspaceId, found, await readHead(trx, workspaceId));
  const head = await readHead(trx, workspaceId);
  const chain = await believe(trx, vault, workspaceId, undefined, head, operationId);
  const begun = await trx
    .insertInto('audit_chains')
    .values({ workspace_id: workspaceId, ...signEnds(vault, workspaceId, chain) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('workspace_id')
    .executeTakeFirst();
  if (begun) return chain;
  // Another process has begun it at the same moment: then that one counts.
  const other = await lockChain(trx, workspaceId);
  return believe(trx, vault, workspaceId, other, await readHead(trx, workspaceId));
}

/** Writes down where a chain begins and ends, within the transaction that took it. */
export async function keepChain(
  trx: Transaction<Tables>,
  vault: Vault,
  workspaceId: string,
  chain: ChainEnds,
): Promise<void> {
  const row = signEnds(vault, workspaceId, chain);
  await trx.updateTable('audit_chains').set(row).where('workspace_id', '=', workspaceId).execute();
  await keepHead(trx, vault, workspaceId, chain.last);
}

/** A chain that was removed does not start over, and one that was put back to an earlier state is not believed. */
async function believe(
  db: Queries,
  vault: Vault,
  workspaceId: string,
  found: SignedEnds | undefined,
  head: SignedHead | undefined,
  operationId = '',
): Promise<ChainEnds> {
  if (found && judgeEnds(vault, workspaceId, found) === 'signed') {
    const chain = parseEnds(found.ends);
    return isHead(vault, workspaceId, head, chain.last) ? chain : { ...chain, inherited: UNPROVEN };
  }
  const last = await findNewest(db, workspaceId);
  const isNew = !found && !last && !head && !(await hasOthers(db, workspaceId, operationId));
  return isNew ? { last: NO_LINK } : { last: last ?? NO_LINK, inherited: found ?? UNPROVEN };
}

/** Marks ends that can't be proven, even if missing keys are restored. */
const UNPROVEN: SignedEnds = { ends: '', signature: '' };

/** States of operations that are written together with an audit entry. */
export const AUDITED = ['settled', 'refused', 'in_doubt'] as const;

/** Whether there is an API key or another operation, none of which is written without an audit chain. */
async function hasOthers(db: Queries, workspaceId: string, operationId: string): Promise<boolean> {
  const one = await db
    .selectFrom('operations')
    .select('workspace_id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '<>', operationId)
    .where('state', 'in', AUDITED)
    .unionAll(db.selectFrom('api_keys').select('workspace_id').where('workspace_id', '=', workspaceId))
    .limit(1)
    .executeTakeFirst();
  return one !== undefined;
}

/** The newest entry, as the table has it; undefined if there is none. */
async function findNewest(db: Queries, workspaceId: string): Promise<Link | undefined> {
  return db
    .selectFrom('audit')
    .select(['seq', 'signature'])
    .where('workspace_id', '=', workspaceId)
    .where('seq', '<', Number.MAX_SAFE_INTEGER)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}

async function lockChain(trx: Transaction<Tables>, workspaceId: string): Promise<SignedEnds | undefined> {
  return trx
    .updateTable('audit_chains')
    .set((column) => ({ ends: column.ref('ends') }))
    .where('workspace_id', '=', workspaceId)
    .returning(['ends', 'signature'])
    .executeTakeFirst();
}

function signEnds(vault: Vault, workspaceId: string, chain: ChainEnds): SignedEnds {
  const ends = JSON.stringify(chain);
  return { ends, signature: vault.sign(writeEnds(workspaceId, ends), 'audit chain') };
}

function writeEnds(workspaceId: string, ends: string): string {
  return JSON.stringify([workspaceId, ends]);
}

/** Pairs of name and text: no two entries are written alike, and a column that comes later changes no old one. */
function writeEntry(row: Cells): string {
  const present = SIGNED_COLUMNS.filter((name) => row[name] !== null);
  return JSON.stringify(present.map((name) => [name, String(row[name])]));
}

function judge(vault: Vault, signature: string, text: string, purpose: string): Verdict {
  try {
    return vault.isSigned(signature, text, purpose) ? 'signed' : 'altered';
  } catch (error) {
    if (!isRefusal(error, 'key_unreadable')) throw error;
    return { lostKey: error.details.keyId };
  }
}
