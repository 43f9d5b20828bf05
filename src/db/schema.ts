import { CompiledQuery, type Kysely, type Migration, Migrator } from 'kysely';
import { DatabaseUnusable, type Engine } from './database.ts';
import type { Tables } from './tables.ts';

/**
 * The schema, one statement each; `tables.ts` says what the columns mean. Portable types only: text for IDs and
 * JSON, bigint for epoch milliseconds and hundredths, integer for counts and 0 or 1; '' instead of NULL in unique keys.
 */
const STATEMENTS: readonly string[] = [
  `create table api_calls (
    id text primary key not null, account text not null, workspace_id text not null, at bigint not null)`,
  `create index api_calls_account on api_calls (account, at)`,
  `create index api_calls_workspace on api_calls (workspace_id, at)`,
  `create table api_keys (
    workspace_id text primary key not null, sealed text not null, set_by text not null, set_at bigint not null)`,
  `create table audit (
    workspace_id text not null, seq bigint not null, id text not null, previous text not null, mac text not null,
    at bigint not null, actor_id text not null, channel_id text, surface text not null, action text not null,
    act_id text not null, server_id bigint, label text, label_key text not null, outcome text not null, code text,
    operation_id text, money bigint, details text, constraint audit_key primary key (workspace_id, seq))`,
  `create index audit_actor_id on audit (workspace_id, actor_id, seq)`,
  `create index audit_label_key on audit (workspace_id, label_key, seq)`,
  `create index audit_server_id on audit (workspace_id, server_id, seq)`,
  `create table audit_heads (
    workspace_id text primary key not null, seq bigint not null, mac text not null, signature text not null,
    pruned_seq bigint not null default 0, pruned_mac text not null default '',
    pruned_at bigint not null default 0, pruned_signature text not null default '')`,
  `create table digests (
    workspace_id text primary key not null, day text not null, account text not null, value text not null)`,
  `create table facts (
    kind text not null, id text not null, value text not null, at bigint not null,
    constraint facts_key primary key (kind, id))`,
  `create table grants (
    id text primary key not null, workspace_id text not null, subject_kind text not null, subject_id text not null,
    role text not null, pattern text not null, pattern_key text not null, granted_by text not null,
    granted_at bigint not null, until bigint not null, temporary_role text not null,
    constraint grants_key unique (workspace_id, subject_kind, subject_id, pattern_key, temporary_role))`,
  `create index grants_end on grants (temporary_role, until)`,
  `create table homes (
    workspace_id text not null, user_id text not null, channel_id text not null, page integer not null,
    opened_at bigint not null, constraint homes_key primary key (workspace_id, user_id))`,
  `create table installation_workspaces (
    workspace_id text primary key not null, installation_id text not null, is_served integer not null default 1)`,
  `create index installation_workspaces_of on installation_workspaces (installation_id)`,
  `create table installations (
    id text primary key not null, is_org integer not null, enterprise_id text, name text not null,
    generation integer not null, installed_by text not null, installed_at bigint not null,
    sealed text, expires_at bigint not null, is_refresh_refused integer not null, is_token_refused integer not null,
    revoked_at bigint not null)`,
  `create table jobs (
    kind text not null, key text not null, workspace_id text not null, payload text not null,
    revision bigint not null, due_at bigint not null, asked_at bigint not null, attempts integer not null,
    owner text not null, lease_until bigint not null, constraint jobs_key primary key (kind, key))`,
  `create index jobs_due on jobs (due_at)`,
  `create index jobs_owner on jobs (owner)`,
  `create index jobs_workspace on jobs (workspace_id, kind)`,
  `create table kept (
    kind text not null, id text not null, workspace_id text not null, value text not null,
    uses_left integer not null, until bigint not null, constraint kept_key primary key (kind, id))`,
  `create index kept_until on kept (until)`,
  `create table operations (
    id text primary key not null, workspace_id text not null, actor_id text not null, channel_id text,
    kind text not null, purchase text not null, claim text not null, state text not null, price bigint,
    known_ids text not null default '[]', server_id bigint, paid_until bigint, reason text, reason_details text,
    has_password integer not null default 0, needs_person integer not null default 0,
    created_at bigint not null, sent_at bigint, ended_at bigint, told_at bigint not null default 0,
    sent_by text not null default '', attempt integer not null default 0,
    is_late bigint not null default 0, send_by bigint not null default 0,
    account text not null default '', decided_by text, sealed_answer text,
    constraint operations_state check (state in ('prepared', 'sent', 'settled', 'refused', 'unconfirmed')))`,
  `create index operations_account on operations (account, state)`,
  `create unique index operations_claim on operations (workspace_id, claim) where claim <> ''`,
  `create index operations_server on operations (workspace_id, server_id, created_at)`,
  `create index operations_spent on operations (workspace_id, created_at)`,
  `create index operations_state on operations (state, workspace_id)`,
  `create table passwords (
    operation_id text primary key not null references operations (id), workspace_id text not null,
    creator_id text not null, server_id bigint not null, label text not null, sealed text not null,
    settled_at bigint not null, held_until bigint)`,
  `create index passwords_workspace on passwords (workspace_id)`,
  `create table requests (
    id text primary key not null, workspace_id text not null, kind text not null, requester_id text not null,
    channel_id text, subject text not null, claim text not null, is_over_budget integer not null,
    account text not null, asked_at bigint not null, expires_at bigint not null, state text not null,
    decided_by text, decided_at bigint, denial_reason text, outcome text,
    granted text, is_told integer not null default 0, cards text not null default '[]')`,
  `create unique index requests_claim on requests (workspace_id, claim) where claim <> ''`,
  `create index requests_requester on requests (workspace_id, requester_id, asked_at)`,
  `create index requests_state on requests (state, workspace_id)`,
  `create table server_notes (
    kind text not null, workspace_id text not null, server_id bigint not null, value text not null,
    constraint server_notes_key primary key (kind, workspace_id, server_id))`,
  `create table workflow_keys (
    id text primary key not null, workspace_id text not null, name text not null, name_key text not null,
    hash text not null, actions text not null, pattern text not null, issued_by text not null,
    issued_at bigint not null, until bigint, last_used_at bigint,
    constraint workflow_keys_name unique (workspace_id, name_key))`,
  `create table workflow_runs (
    id text primary key not null, workspace_id text not null, execution_id text not null, action text,
    label text not null, key_kind text not null, key_id text not null, key_name text not null, channel_id text,
    sealed_token text, state text not null, received_at bigint not null,
    pressed_by text, card_channel_id text, card_ts text, outcome text, outcome_details text,
    constraint workflow_runs_execution unique (workspace_id, execution_id))`,
  `create index workflow_runs_received on workflow_runs (workspace_id, key_id, received_at)`,
  `create table workspaces (
    id text primary key not null, name text not null, settings text not null)`,
];

type Migrations = Readonly<Record<string, Migration>>;
/** Changes of the schema by name, in order; the first start of a new version makes them. */
function listMigrations({ textType }: Engine): Migrations {
  const up = async (db: Kysely<unknown>) => {
    for (const statement of STATEMENTS)
      await db.executeQuery(CompiledQuery.raw(statement.replaceAll(/\btext\b/g, textType)));
  };
  return { '0001-all-tables': { up } };
}

/**
 * Brings the schema up to this version of the app. Of several processes that start at once, one does it.
 * @throws DatabaseUnusable when another version has made the schema that this one can't read, or a migration fails
 */
export async function migrate(db: Kysely<Tables>, place: Engine, later: Migrations = {}): Promise<void> {
  const { schema } = place;
  const migrations = { ...listMigrations(place), ...later };
  const executed = await listExecuted(db, schema);
  refuseOther(executed, migrations);
  if (isCurrent(executed, migrations)) return;
  const provider = { getMigrations: async () => migrations };
  const migrator = new Migrator({ db, provider, ...(schema && { migrationTableSchema: schema }) });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const cause = error instanceof Error ? error.message : 'unknown';
  throw new DatabaseUnusable(`The database could not be updated to this version of the app: ${cause}.`);
}

/**
 * Checks that the schema is the one of this version of the app.
 * @throws DatabaseUnusable when it is older or newer
 */
export async function requireCurrent(db: Kysely<Tables>, place: Engine): Promise<void> {
  const executed = await listExecuted(db, place.schema);
  const migrations = listMigrations(place);
  refuseOther(executed, migrations);
  if (isCurrent(executed, migrations)) return;
  throw new DatabaseUnusable(
    'The database was last used by an older version of the app, which may still be running. ' +
      'Update and restart the app first.',
  );
}

/** The first migrations of databases that earlier builds made. */
const EARLIER = ['0001-first-tables', '0001-schema', '0001-tables'];

/** @throws DatabaseUnusable */
function refuseOther(executed: readonly string[], migrations: Migrations): void {
  if (EARLIER.some((name) => executed.includes(name)))
    throw new DatabaseUnusable(
      "The database was written by an earlier version of the app, and this version can't read it. Run that version until no " +
        'order is unconfirmed and every root password is saved, then set DATABASE_URL to an empty database.',
    );
  const newer = executed.find((name) => !Object.hasOwn(migrations, name));
  if (newer === undefined) return;
  throw new DatabaseUnusable(
    `The database was changed by a newer version of the app (it has "${newer}"), and this version can't work with ` +
      'it. Start that version.',
  );
}

function isCurrent(executed: readonly string[], migrations: Migrations): boolean {
  return Object.keys(migrations).every((name) => executed.includes(name));
}

type MigrationTables = { kysely_migration: { name: string } };

/** The names of the migrations that this database has executed; none if the app has never used it. */
async function listExecuted(db: Kysely<Tables>, schema: string | undefined): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === 'kysely_migration' && table.schema === schema)) return [];
  const rows = await db.withTables<MigrationTables>().selectFrom('kysely_migration').select('name').execute();
  return rows.map(({ name }) => name);
}
