import { Kysely, sql } from 'kysely';
import { signEntry } from '../../src/db/audit-chain.ts';
import { migrate } from '../../src/db/migrate.ts';
import { firstTables } from '../../src/db/migrations/0001-first-tables.ts';
import { openSqlite } from '../../src/db/sqlite.ts';
import type { OperationRow, Tables } from '../../src/db/tables.ts';
import type { Vault } from '../../src/db/vault.ts';
import type { Purchase } from '../../src/purchases/operation.ts';
import { realSystem } from '../../src/system.ts';

const DAY_MS = 86_400_000;
export const OLD_PASSWORD = 'a-root-password-of-the-first-release';
export const OLD_KEY = 'an-api-key-of-the-first-release';

/** Whose database it is, and when it was written last. */
export interface FirstRelease {
  readonly path: string;
  readonly vault: Vault;
  readonly workspaceId: string;
  /** Who created and requested everything. */
  readonly userId: string;
  readonly grantee: string;
  readonly at: number;
  readonly apiKey?: string;
}

/** The operations of that database, one in each state and situation, by name. */
export const OLD_OPERATIONS = {
  prepared: '01K0000000000000000PREPARE',
  confirmed_before_key: '01K00000000000000000BEFORE',
  sent: '01K0000000000000000000SENT',
  settled_create: '01K0000000000000000CREATED',
  settled_renewal: '01K0000000000000000RENEWED',
  refused: '01K0000000000000000REFUSED',
  not_done: '01K0000000000000000NOTDONE',
  in_doubt: '01K000000000000000000DOUBT',
  needs_person: '01K00000000000000000PERSON',
} as const;
export const OLD_APPROVALS = {
  open: '01K0000000000000000000OPEN',
  denied: '01K00000000000000000DENIED',
} as const;

type OldOperation = Pick<OperationRow, 'id' | 'purchase' | 'kind' | 'claim' | 'state' | 'server_id'> &
  Partial<OperationRow>;

/** Writes a database as release 0.1.0 left it: its first tables alone, and rows sealed and signed in its form. */
export async function writeFirstRelease(release: FirstRelease): Promise<void> {
  const engine = openSqlite(release.path, { lock: true, system: realSystem });
  const db = new Kysely<Tables>({ dialect: engine.dialect });
  try {
    await migrate(db, { '0001-first-tables': firstTables });
    await writeWorkspace(db, release);
    for (const operation of listOperations(release)) await writeOperation(db, release, operation);
    await writePassword(db, release);
    await writeApprovals(db, release);
    await writeAudit(db, release);
  } finally {
    await db.destroy();
    engine.close();
  }
}

async function writeWorkspace(db: Kysely<Tables>, release: FirstRelease): Promise<void> {
  const { workspaceId, userId, grantee, vault, at, apiKey = OLD_KEY } = release;
  await db
    .insertInto('workspaces')
    .values({ id: workspaceId, name: 'Acme', settings: '{}', added_at: at })
    .execute();
  const place = { table: 'api_keys', row: workspaceId, column: 'sealed', workspaceId };
  const sealed = vault.seal(apiKey, place);
  const set = { set_by: userId, set_at: at - 5 * DAY_MS };
  await db
    .insertInto('api_keys')
    .values({ workspace_id: workspaceId, sealed, ...set })
    .execute();
  const granted = { role: 'manager', pattern: 'web-*', pattern_key: 'web-*', granted_by: userId } as const;
  await db
    .insertInto('grants')
    .values({
      ...granted,
      ...{ id: '01K0000000000000000000GRAN', workspace_id: workspaceId, granted_at: at, until: 0 },
      ...{ subject_kind: 'user', subject_id: grantee, temporary_role: '' },
    })
    .execute();
}

function create(label: string): Pick<OldOperation, 'kind' | 'purchase' | 'claim' | 'server_id'> {
  const order = { plan: 'small', location: 'ams', image: 'debian-13', label };
  const purchase: Purchase = { kind: 'create', order };
  return { kind: 'create', purchase: JSON.stringify(purchase), claim: '', server_id: null };
}

function renew(serverId: number, paidUntil: number) {
  const purchase: Purchase = { kind: 'renew', serverId, label: 'web-1', paidUntil };
  const claim = `renew:${serverId}:${paidUntil}`;
  return { kind: 'renew', purchase: JSON.stringify(purchase), claim, server_id: serverId } as const;
}

function listOperations({ at }: FirstRelease): readonly OldOperation[] {
  const id = OLD_OPERATIONS;
  const sent = { sent_at: at - 1000, known_ids: '[7]' };
  return [
    { id: id.prepared, ...create('web-2'), state: 'prepared', due_at: at },
    {
      id: id.confirmed_before_key,
      ...create('web-3'),
      state: 'in_doubt',
      created_at: at - 6 * DAY_MS,
      ...sent,
      due_at: at,
      reason: 'no_answer',
    },
    { id: id.sent, ...create('web-4'), state: 'sent', ...sent, due_at: at },
    {
      id: id.settled_create,
      ...create('web-1'),
      state: 'settled',
      ...sent,
      server_id: 7,
      has_password: 1,
      ended_at: at,
      told_at: at,
    },
    {
      id: id.settled_renewal,
      ...renew(7, at + DAY_MS),
      state: 'settled',
      ...sent,
      paid_until: at + 31 * DAY_MS,
      ended_at: at,
      told_at: at,
    },
    {
      id: id.refused,
      ...renew(7, at + 31 * DAY_MS),
      claim: '',
      state: 'refused',
      reason: 'not_enough_balance',
      ended_at: at,
      told_at: at,
    },
    {
      id: id.not_done,
      ...create('web-5'),
      state: 'refused',
      ...sent,
      reason: 'not_done',
      ended_at: at,
      told_at: at,
    },
    { id: id.in_doubt, ...create('web-6'), state: 'in_doubt', ...sent, due_at: at, reason: 'no_answer' },
    {
      id: id.needs_person,
      ...create('web-8'),
      state: 'in_doubt',
      ...sent,
      needs_person: 1,
      reason: 'contradiction',
      told_at: at,
    },
  ];
}

async function writeOperation(
  db: Kysely<Tables>,
  { workspaceId, userId, at }: FirstRelease,
  row: OldOperation,
) {
  const fields = {
    ...{ workspace_id: workspaceId, actor_id: userId, channel_id: null, price: 590, known_ids: '[]' },
    ...{ paid_until: null, reason: null, reason_details: null, has_password: 0, needs_person: 0 },
    ...{ created_at: at - 2000, sent_at: null, ended_at: null, told_at: 0, due_at: null },
    ...{ lease_owner: '', lease_until: 0 },
    ...row,
  };
  await insert(db, 'operations', fields);
}

async function writePassword(db: Kysely<Tables>, { workspaceId, userId, vault, at }: FirstRelease) {
  const row = OLD_OPERATIONS.settled_create;
  const sealed = vault.seal(OLD_PASSWORD, { table: 'passwords', row, column: 'sealed', workspaceId });
  const facts = {
    operation_id: row,
    workspace_id: workspaceId,
    creator_id: userId,
    server_id: 7,
    label: 'web-1',
  };
  await db
    .insertInto('passwords')
    .values({ ...facts, sealed, settled_at: at, held_until: null })
    .execute();
}

async function writeApprovals(db: Kysely<Tables>, { workspaceId, userId, at }: FirstRelease): Promise<void> {
  const { purchase } = create('web-9');
  const deed = JSON.stringify({ kind: 'purchase', purchase: JSON.parse(purchase), price: 590 });
  for (const [id, state] of [
    [OLD_APPROVALS.open, 'open'],
    [OLD_APPROVALS.denied, 'denied'],
  ] as const) {
    const fields = {
      ...{ id, workspace_id: workspaceId, requester_id: userId, channel_id: null, kind: 'purchase', deed },
      ...{ claim: '', is_over_budget: 0, state, asked_at: at, expires_at: at + 3_600_000, changed_at: at },
      ...{ decided_by: null, decided_at: null, reason: null, is_told: 1, cards: '[]' },
    };
    await insert(db, 'approvals', fields);
  }
}

/** Two signed entries, and the signed ends of their chain. */
async function writeAudit(
  db: Kysely<Tables>,
  { workspaceId, userId, vault, at }: FirstRelease,
): Promise<void> {
  let last = { seq: 0, signature: '' };
  for (const outcome of ['started', 'done'] as const) {
    const cells = {
      ...{ id: `01K00000000000000000AUDIT${last.seq}`, workspace_id: workspaceId, seq: last.seq + 1 },
      ...{
        previous: last.signature,
        at,
        actor_id: userId,
        channel_id: null,
        surface: 'modal',
        action: 'create',
      },
      ...{ act_id: 'act', server_id: 7, label: 'web-1', label_key: 'web-1', outcome, code: null },
      ...{ operation_id: OLD_OPERATIONS.settled_create, money: 590 },
    } as const;
    last = { seq: cells.seq, signature: signEntry(vault, cells) };
    await insert(db, 'audit', { ...cells, signature: last.signature });
  }
  const ends = JSON.stringify({ last });
  const signature = vault.sign(JSON.stringify([workspaceId, ends]), 'audit chain');
  await db.insertInto('audit_chains').values({ workspace_id: workspaceId, ends, signature }).execute();
}

/** Inserts a row of the first tables: the columns of later releases are not there yet. */
async function insert(
  db: Kysely<Tables>,
  table: keyof Tables,
  row: Readonly<Record<string, string | number | null | undefined>>,
): Promise<void> {
  const columns = sql.join(Object.keys(row).map((name) => sql.ref(name)));
  await sql`insert into ${sql.table(table)} (${columns}) values (${sql.join(Object.values(row))})`.execute(
    db,
  );
}
