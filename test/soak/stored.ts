import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { waitFor } from './acts.ts';
import type { SoakTeam } from './soak-team.ts';

/** An operation as the database has it. */
export interface StoredOrder {
  readonly id: string;
  readonly actor_id: string;
  readonly kind: 'create' | 'renew';
  readonly purchase: string;
  readonly state: string;
  readonly reason: string | null;
  readonly server_id: string | null;
  readonly has_password: number;
  readonly attempt: number;
  readonly told_at: string;
  readonly lease_owner: string;
  readonly lease_until: string;
}

/** Runs a statement beside the app; undefined while the database is away. */
async function query<Row extends object>(
  { postgres }: SoakTeam,
  text: string,
): Promise<readonly Row[] | undefined> {
  const client = new Client({ connectionString: postgres.url, connectionTimeoutMillis: 2000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(text)).rows;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function read<Row extends object>(team: SoakTeam, text: string): Promise<readonly Row[]> {
  for (;;) {
    const rows = await query<Row>(team, text);
    if (rows) return rows;
    await sleep(200);
  }
}

export async function readOrders(team: SoakTeam): Promise<readonly StoredOrder[]> {
  return read(team, "select * from operations where kind <> 'delete' order by id");
}

/** The users whose request for a role was granted. */
export async function readGranted(team: SoakTeam): Promise<readonly string[]> {
  const text = "select requester_id from requests where kind = 'role' and state = 'approved'";
  return (await read<{ requester_id: string }>(team, text)).map(({ requester_id }) => requester_id);
}

/** What still has to be done, in words: orders and deletes without an outcome, users who were not told. */
const UNDONE = `
  select kind || ' ' || state as what from operations where state in ('prepared', 'sent') or told_at = 0
  union all select kind || ' request ' || state || ' untold' from requests where is_told = 0`;

/** Waits until everything has an outcome and everybody was told; returns what is left when that takes too long. */
export async function settle(team: SoakTeam, patienceMs: number): Promise<readonly string[]> {
  let left: readonly string[] = ['the database is away'];
  const until = Date.now() + patienceMs;
  do {
    await sleep(200);
    left = (await query<{ what: string }>(team, UNDONE))?.map(({ what }) => what) ?? left;
  } while (left.length > 0 && Date.now() < until);
  return left;
}

/** A minute passes for all leases, also those of living processes: as if each of them had stood still. */
export async function endLeases(team: SoakTeam): Promise<void> {
  const ended = async () => {
    const jobs = await query(team, 'update jobs set lease_until = 0 where lease_until > 0');
    return jobs && (await query(team, 'update locks set until = 0'));
  };
  for (let done = await ended(); !done; done = await ended()) await sleep(200);
}

/** Waits until every process listens and Slack and the database answer it. */
export async function waitUntilReady({ processes }: SoakTeam, count: number): Promise<void> {
  await waitFor(() => processes.urls().length === count, 60_000);
}

/** Watches how long orders stay with a process that has died: from its last sign of life to the next owner. */
export function watchTakeovers(team: SoakTeam) {
  let held = new Map<string, { owner: string; until: number }>();
  const takeoversMs: number[] = [];
  let isOver = false;
  const look = async () => {
    const rows = await query<StoredOrder & { now: string }>(
      team,
      `select o.*, j.owner as lease_owner, j.lease_until, floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now
        from operations o join jobs j on j.kind = 'operation' and j.key = o.id
        where o.state in ('prepared', 'sent') or j.owner <> ''`,
    );
    if (!rows) return;
    const now = new Map<string, { owner: string; until: number }>();
    for (const row of rows) {
      const before = held.get(row.id);
      const until = Number(row.lease_until);
      if (
        before &&
        before.owner !== row.lease_owner &&
        row.lease_owner !== '' &&
        before.until < Number(row.now)
      )
        takeoversMs.push(Number(row.now) - before.until);
      if (row.lease_owner !== '' && until > 0) now.set(row.id, { owner: row.lease_owner, until });
    }
    held = now;
  };
  const watching = (async () => {
    while (!isOver) {
      await look();
      await sleep(250);
    }
  })();
  return {
    /** How long after the end of each lease the next owner came, in milliseconds. */
    stop: async (): Promise<readonly number[]> => {
      isOver = true;
      await watching;
      return takeoversMs;
    },
  };
}
