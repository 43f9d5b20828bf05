import { type Selectable, sql, type Transaction } from 'kysely';
import { z } from 'zod';
import type { AuditEntry, StoredEntry } from '../core/audit-entry.ts';
import { isRefusal } from '../core/errors.ts';
import { money } from '../core/money.ts';
import type { Queries } from './database.ts';
import { keepPresent } from './engine.ts';
import type { AuditRow, Tables } from './tables.ts';
import type { Vault } from './vault.ts';

/** An entry as its neighbours know it; 0 and '' before the first one. */
export interface Link {
  readonly seq: number;
  readonly signature: string;
}

const link = z.object({ seq: z.number().int(), signature: z.string() });

/** The newest entry of a chain, kept beside the chain and signed for itself. */
interface SignedHead {
  readonly head: string;
  readonly signature: string;
}

const PURPOSE = 'audit head';

/** Reads the head that was kept; others may change it. */
async function readHead(db: Queries, workspaceId: string): Promise<SignedHead | undefined> {
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
async function keepHead(
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
function isHead(
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

interface SignedEnds {
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

type Verdict = 'signed' | 'altered' | { readonly lostKey: string };

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
const SIGNED_COLUMNS = Object.keys(SIGNED) as readonly (keyof typeof SIGNED)[];

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
export const AUDITED = ['settled', 'refused', 'unconfirmed'] as const;

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

/** What of a row its entry says; the rest is its place in the chain. */
type AuditFacts = Omit<Selectable<AuditRow>, 'seq' | 'previous' | 'signature'>;

/** Makes the columns of an entry. */
export function toFacts(id: string, entry: AuditEntry): AuditFacts {
  const label = keepText(entry.label);
  return {
    id,
    workspace_id: entry.workspaceId,
    at: entry.at,
    actor_id: keepText(entry.actorId) ?? '',
    channel_id: keepText(entry.channelId),
    surface: entry.surface,
    action: keepText(entry.action) ?? '',
    act_id: keepText(entry.actId) ?? '',
    server_id: entry.serverId ?? null,
    label,
    label_key: searchKeyOf(label ?? ''),
    outcome: entry.outcome,
    code: keepText(entry.code),
    operation_id: keepText(entry.operationId),
    money: entry.money ?? null,
  };
}

/** Entries are found by their label in any case. It is signed with the entry, so it can't be computed differently now. */
export function searchKeyOf(label: string): string {
  return label.toLowerCase();
}

/** Reads a row of the audit. */
export function toEntry(row: AuditRow): StoredEntry {
  return {
    id: row.id,
    seq: row.seq,
    signature: row.signature,
    at: row.at,
    workspaceId: row.workspace_id,
    actorId: row.actor_id,
    surface: row.surface,
    action: row.action,
    actId: row.act_id,
    outcome: row.outcome,
    ...keepPresent({
      channelId: row.channel_id,
      serverId: row.server_id,
      label: row.label,
      code: row.code,
      operationId: row.operation_id,
      money: row.money === null ? null : money(row.money),
    }),
  };
}

/** A text as it comes back from every engine: NUL ends it in SQLite, and half a surrogate pair is no letter. */
function keepText(text: string | undefined): string | null {
  return text === undefined ? null : Buffer.from(text).toString().replaceAll('\0', '\uFFFD');
}

/** How many entries are looked at between two turns of the event loop. */
const ROWS_AT_ONCE = 500;

/** An entry as it is found in the table; it may have been tampered with. */
export interface FoundEntry {
  readonly id: string;
  readonly seq: number;
  readonly signature: string;
  readonly cells: Readonly<Record<(typeof SIGNED_COLUMNS)[number], string | null>>;
}

/** Reads the next entries of a chain in the order of their numbers, those included that have no right to be there. */
export async function readPage(
  db: Queries,
  workspaceId: string,
  after?: FoundEntry,
): Promise<readonly FoundEntry[]> {
  let query = db
    .selectFrom('audit')
    // As text: numbers that are too large to be read would be an error, and they are signed as text.
    .select(SIGNED_COLUMNS.map((name) => sql<string | null>`cast(${sql.ref(name)} as text)`.as(name)))
    .select('signature')
    .where('workspace_id', '=', workspaceId);
  if (after) {
    query = query.where((column) =>
      column.or([
        column('seq', '>', after.seq),
        column.and([column('seq', '=', after.seq), column('id', '>', after.id)]),
      ]),
    );
  }
  // By the columns themselves: their names alone would mean the texts.
  const rows = await query.orderBy('audit.seq').orderBy('audit.id').limit(ROWS_AT_ONCE).execute();
  return rows.map(({ signature, ...cells }) => ({
    id: cells.id ?? '',
    seq: Number(cells.seq),
    signature: String(signature),
    cells,
  }));
}
