import type { Selectable, Transaction } from 'kysely';
import type { AuditEntry } from '../core/audit-entry.ts';
import { isRefusal } from '../core/errors.ts';
import { isIdenticalLabel } from '../core/labels.ts';
import type { Foundation, Queries } from './database.ts';
import type { AuditRow, Tables } from './tables.ts';
import type { Vault } from './vault.ts';

/**
 * Adds an entry at the end of its workspace's chain, within a transaction. Every deletion is recorded here, whatever its
 * surface, so the root password of the deleted server is erased here, too.
 */
export async function addAudit(
  trx: Transaction<Tables>,
  { vault, newId }: Foundation,
  entry: AuditEntry,
): Promise<void> {
  const { workspaceId, operationId } = entry;
  const facts = { ...toFacts(entry), id: newId() };
  const insertAfter = async ({ seq, mac: previous }: Link): Promise<Link | undefined> => {
    const row = { ...facts, seq: seq + 1, previous };
    const mac = vault.sign(writeEntry(row), 'audit entry');
    const insert = trx.insertInto('audit').values({ ...row, mac });
    return insert
      .onConflict((conflict) => conflict.doNothing())
      .returning(['seq', 'mac'])
      .executeTakeFirst();
  };
  const added =
    (await insertAfter(await takeEnd(trx, vault, workspaceId, operationId))) ??
    // An entry of that number can only be there if the head was put back to an earlier one.
    (await insertAfter({ ...(await findNewest(trx, workspaceId)), mac: writeBreak('') }));
  if (!added) throw new Error('the audit has no number left');
  await storeEnd(trx, vault, workspaceId, added);
  await erasePasswordOfDeleted(trx, entry);
}

/**
 * Erases the password of a server in the transaction that records its deletion. After a key was replaced, a server of the
 * same ID may be another account's: then its label has to be the same, too.
 */
async function erasePasswordOfDeleted(trx: Queries, entry: AuditEntry): Promise<void> {
  const { action, outcome, workspaceId, serverId, operationId = '', label = '' } = entry;
  if (action !== 'delete' || outcome !== 'done' || serverId === undefined) return;
  const held = await trx
    .selectFrom('passwords')
    .innerJoin('operations', 'operations.id', 'passwords.operation_id')
    .select(['passwords.operation_id', 'passwords.label', 'operations.account'])
    .where('passwords.workspace_id', '=', workspaceId)
    .where('passwords.server_id', '=', serverId)
    .execute();
  if (held.length === 0) return;
  const own = trx.selectFrom('operations').select('account').where('id', '=', operationId);
  const { account } = (await own.executeTakeFirst()) ?? {};
  const ids = held
    .filter((row) => (account && row.account === account) || isIdenticalLabel(row.label, label))
    .map((row) => row.operation_id);
  if (ids.length > 0) await trx.deleteFrom('passwords').where('operation_id', 'in', ids).execute();
}

/** Begins the chain of a workspace where there is none, so that an API key without one is a sign that the audit was emptied. */
export async function beginChain(trx: Transaction<Tables>, vault: Vault, workspaceId: string): Promise<void> {
  const end = await takeEnd(trx, vault, workspaceId);
  if (end === NO_LINK) await storeEnd(trx, vault, workspaceId, end);
}

/** Locks a chain and finds what the next entry comes after. */
async function takeEnd(
  trx: Transaction<Tables>,
  vault: Vault,
  workspaceId: string,
  operationId?: string,
): Promise<Link> {
  const head = await lockHead(trx, workspaceId);
  const verdict = judge(vault, 'audit head', writeHead(workspaceId, head), head.signature);
  if (verdict === 'signed') return head;
  const newest = await findNewest(trx, workspaceId);
  const isNew =
    head.signature === '' && newest === NO_LINK && !(await hasEvidence(trx, workspaceId, operationId));
  return isNew ? NO_LINK : { ...newest, mac: writeBreak(verdict === 'altered' ? '' : head.signature) };
}

async function storeEnd(
  trx: Transaction<Tables>,
  vault: Vault,
  workspaceId: string,
  { seq, mac }: Link,
): Promise<void> {
  const signature = vault.sign(writeHead(workspaceId, { seq, mac }), 'audit head');
  await trx
    .updateTable('audit_heads')
    .set({ seq, mac, signature })
    .where('workspace_id', '=', workspaceId)
    .execute();
}

export interface Link {
  readonly seq: number;
  readonly mac: string;
}

export const NO_LINK: Link = { seq: 0, mac: '' };

/** The row of a workspace in `audit_heads`; it may have been tampered with. */
export type Head = Selectable<Tables['audit_heads']>;

/** Locks the head of a workspace: no other transaction adds or prunes before this one has ended. Makes an unsigned one if there is none. */
export function lockHead(trx: Transaction<Tables>, workspaceId: string): Promise<Head> {
  return trx
    .insertInto('audit_heads')
    .values({ workspace_id: workspaceId, ...NO_LINK, signature: '' })
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet((column) => ({ mac: column.ref('audit_heads.mac') })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function readHead(db: Queries, workspaceId: string): Promise<Head | undefined> {
  return db.selectFrom('audit_heads').selectAll().where('workspace_id', '=', workspaceId).executeTakeFirst();
}

/** What the signature of a head covers: the newest entry. */
export function writeHead(workspaceId: string, { seq, mac }: Link): string {
  return JSON.stringify([workspaceId, String(seq), mac]);
}

/** `lostKey`: the key that signed it is not in `ENCRYPTION_KEYS`. */
type Verdict = 'signed' | 'altered' | { readonly lostKey: string };

export function judge(
  vault: Vault,
  purpose: 'audit entry' | 'audit head' | 'audit pruned',
  text: string,
  signature: string,
): Verdict {
  try {
    return vault.isSigned(signature, text, purpose) ? 'signed' : 'altered';
  } catch (error) {
    if (!isRefusal(error, 'key_unreadable')) throw error;
    return { lostKey: error.details.keyId };
  }
}

const BREAK = 'head ';

/**
 * Writes what stands in the place of the previous entry's MAC where the head doesn't prove that entry. A payment must not fail
 * because of its audit, so a damaged chain continues and says so: `verify` never believes what is before it or, where only the
 * key of the head's signature is missing, once that key is back. `signature`: that one, otherwise ''.
 */
function writeBreak(signature: string): string {
  return `${BREAK}${signature}`;
}

export function readBreak(previous: string): string | undefined {
  return previous.startsWith(BREAK) ? previous.slice(BREAK.length) : undefined;
}

async function findNewest(db: Queries, workspaceId: string): Promise<Link> {
  const found = await db
    .selectFrom('audit')
    .select(['seq', 'mac'])
    .where('workspace_id', '=', workspaceId)
    .where('seq', '<', Number.MAX_SAFE_INTEGER)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return found ?? NO_LINK;
}

/** States of operations that are written together with an audit entry. */
export const AUDITED = ['settled', 'refused', 'unconfirmed'] as const;

/** Whether there is an API key or another operation, neither of which is written without an audit entry before it. */
export async function hasEvidence(db: Queries, workspaceId: string, operationId = ''): Promise<boolean> {
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

/**
 * What the MAC of an entry covers: every other column. Pairs of name and text: no two entries are written alike, and a column that
 * comes later changes no old one.
 */
export function writeEntry(row: Omit<AuditRow, 'mac'> & { readonly mac?: string }): string {
  const { mac: _, ...signed } = row;
  const present = Object.entries(signed).filter(([, value]) => value !== null);
  return JSON.stringify(present.map(([name, value]) => [name, String(value)]).sort());
}

export const PAGE = 500;

/** Reads the next entries of a chain in the order of their numbers, those included that have no right to be there. */
export function readPage(db: Queries, workspaceId: string, after?: number): Promise<AuditRow[]> {
  return db
    .selectFrom('audit')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .$if(after !== undefined, (page) => page.where('seq', '>', after ?? 0))
    .orderBy('seq')
    .limit(PAGE)
    .execute();
}

function toFacts(entry: AuditEntry): Omit<Selectable<AuditRow>, 'id' | 'seq' | 'previous' | 'mac'> {
  const label = keepText(entry.label);
  return {
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
    details: entry.details ? JSON.stringify(entry.details) : null,
  };
}

/** Entries are found by their label in any case. It is signed with the entry, so it can't be computed differently now. */
export function searchKeyOf(label: string): string {
  return label.toLowerCase();
}

/** A text as it comes back from every engine: NUL ends it in SQLite, and half a surrogate pair is no letter. */
function keepText(text: string | undefined): string | null {
  return text === undefined ? null : Buffer.from(text).toString().replaceAll('\0', '\uFFFD');
}
