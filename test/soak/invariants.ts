import { setImmediate as othersGoOn, setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../../src/sandbox/hosting/accounts.ts';
import type { MoneyEntry, RequestFilter } from '../../src/sandbox/hosting/journal.ts';
import type { Hosting } from '../../src/sandbox/hosting/start.ts';
import { mostInAnyWindow } from '../hosting/support.ts';
import {
  countBy,
  countCreates,
  findViolations as findViolationsOfTeam,
  SECRETS,
} from '../support/invariants.ts';
import { queryDatabase } from '../support/query-database.ts';
import { findLosses } from './soak.ts';
import type { SoakTeam } from './soak-team.ts';

const MOST_REQUESTS = 300;

/** What the end of a soak is judged by: the records of the hosting service and of Slack, and what is stored. */
export interface Evidence {
  readonly team: SoakTeam;
  readonly stored: readonly StoredOrder[];
  /** The users whose request for a role was granted. */
  readonly grantedTo: readonly string[];
  /** What still had no outcome, or was not reported. */
  readonly left: readonly string[];
  /** What the processes have written since the last time. */
  readonly log: string;
  /** The journal's last entry that was judged before. */
  readonly judgedTo: number;
}

/** Everything that is not as it has to be, in sentences; empty if all invariants hold. */
export async function findViolations(evidence: Evidence): Promise<readonly string[]> {
  const { team, stored, log, judgedTo } = evidence;
  const { hosting, slack, recorded, apiKey } = team;
  const ofTeam = await findViolationsOfTeam(
    {
      hosting: since(hosting, judgedTo),
      slacks: [slack],
      shown: recorded.shown,
      confirmations: [...recorded.confirmations.values()],
      log,
      // The database is a folder of PostgreSQL's.
      files: '',
      secrets: { ...SECRETS, 'the API key': apiKey },
      listHeld: async () =>
        stored.filter(({ has_password }) => has_password).map((one) => Number(one.server_id)),
      isLost: findLosses(team, log),
    },
    { slackRulesKept: 'processes are killed, and Slack is slow and limits the app' },
  );
  const invariants = [
    findOrderFaults,
    findRenewalFaults,
    findSumFaults,
    findTwiceDone,
    findRoleFaults,
    findExcess,
    findProcessFaults,
    findUntested,
  ];
  const ofLoad = [...evidence.left];
  for (const find of invariants) {
    await othersGoOn();
    ofLoad.push(...(await find(evidence)).map((words) => `${find.name}: ${words}`));
  }
  return [...ofTeam, ...ofLoad];
}

/** The hosting service with a journal that begins after this entry. */
function since(hosting: Hosting, judgedTo: number): Hosting {
  const requests = hosting.requests().filter(({ id }) => id > judgedTo);
  const isNew = ({ id }: MoneyEntry) => id > judgedTo;
  return Object.assign(Object.create(hosting) as Hosting, {
    requests: (filter: RequestFilter = {}) =>
      requests.filter((request) =>
        Object.entries(filter).every(([field, value]) => Reflect.get(request, field) === value),
      ),
    charges: (account?: Account) => hosting.charges(account).filter(isNew),
    refunds: (account?: Account) => hosting.refunds(account).filter(isNew),
  });
}

/** What an order's user was told of it, other than that it was created. */
const ENDED = (label: string) =>
  new RegExp(
    `\`${label}\` wasn’t created|whether \`${label}\` was created|order for \`${label}\` isn’t confirmed|\`${label}\`: We couldn’t save this`,
  );

const CREATED = (label: string) =>
  new RegExp(
    `\`${label}\` (?:was created \\(ID|is being created(?: \\([^)\n]*\\))?\\. |has appeared in the hosting account)`,
  );

/** What was charged is told as created, and what was taken has an outcome. That nothing else is told, holds for every team. */
async function findOrderFaults({ team, stored: all }: Evidence): Promise<readonly string[]> {
  const { hosting, recorded } = team;
  const found: string[] = [];
  for (const { label, userId, isTaken } of recorded.orders) {
    await othersGoOn();
    const { charges, kept } = countCreates(hosting, label);
    const told = recorded.toldTo(userId);
    const isCreated = told.some(({ written }) => CREATED(label).test(written));
    const isTold = isCreated || told.some(({ written }) => ENDED(label).test(written));
    const stored = all.find(
      ({ kind, purchase }) => kind === 'create' && purchase.includes(`"label":"${label}"`),
    );
    const faults = [
      kept > 0 && !isCreated && stored?.state !== 'unconfirmed' && 'charged, and not told as created',
      (isTaken || charges > 0) && !isTold && 'taken or charged, and its user was told nothing',
      isTaken && !stored && 'taken, and not stored',
    ];
    for (const fault of faults.filter(Boolean))
      found.push(`${label} (${stored?.state} ${stored?.reason}): ${fault}`);
  }
  return found;
}

/** Every user who read "Renewing" gets the outcome. "Someone else already confirmed this" is one. */
function findRenewalFaults({ team: { recorded } }: Evidence): readonly string[] {
  return recorded.renewals.flatMap(({ label, pressedAtMs, takenFor }) => {
    const words = new RegExp(
      `\`${label}\` (?:was renewed|wasn’t renewed|is now paid until)|whether \`${label}\` was renewed|renewal of \`${label}\``,
    );
    const isTold = (userId: string) =>
      recorded.toldTo(userId).some(({ atMs, written }) => atMs >= pressedAtMs && words.test(written));
    return [...takenFor]
      .filter((userId) => !isTold(userId))
      .map((userId) => `${userId} was told nothing of the renewal of ${label}`);
  });
}

/** What the hosting service charged is what the app knows to be paid, or still looks for. */
function findSumFaults({ team, stored }: Evidence): readonly string[] {
  const { hosting, account } = team;
  const kept = hosting.charges(account).length - hosting.refunds(account).length;
  const settled = stored.filter(({ state }) => state === 'settled').length;
  const open = stored.filter(({ state }) => state === 'unconfirmed').length;
  if (kept >= settled && kept <= settled + open) return [];
  return [`${kept} charges, ${settled} orders settled, ${open} unconfirmed`];
}

/** One request for each approved deletion, one card for each approver, one reboot for each server that was named. */
function findTwiceDone({ team }: Evidence): readonly string[] {
  const { hosting, recorded, processes } = team;
  const sent = (operation: 'delete' | 'reboot') =>
    hosting.requests({ operation }).filter(({ code }) => code !== 'rate_limited');
  const deletes = recorded.deletions.flatMap(({ serverId, label, approvals, isTaken, requesterId }) => {
    const requests = sent('delete').filter(({ path }) => path.endsWith(`/${serverId}`)).length;
    const cards = recorded.shown.filter(
      (one) => one.isNew && one.written.startsWith(`<@${requesterId}> wants to *delete* \`${label}\``),
    );
    const most = Math.max(0, ...countBy(cards, ({ channel }) => channel).values());
    const told = recorded
      .toldTo(requesterId)
      .some(({ written }) =>
        new RegExp(`\`${label}\` was (?:not )?deleted|whether \`${label}\``).test(written),
      );
    return [
      requests > 1 && `${requests} requests to delete ${label}`,
      requests > 0 && approvals === 0 && `${label} was deleted without an approval`,
      most > 1 + processes.killedAt.length && `${most} cards about ${label} for one user`,
      isTaken &&
        approvals > 0 &&
        requests > 0 &&
        !told &&
        `nobody told ${requesterId} that ${label} was deleted`,
    ].filter((words) => words !== false);
  });
  const reboots = sent('reboot').length;
  return reboots > recorded.reboots
    ? [...deletes, `${reboots} reboots for ${recorded.reboots} named`]
    : deletes;
}

/** A role that was granted is told, and once unless a process died over it. */
function findRoleFaults({ team, grantedTo }: Evidence): readonly string[] {
  const { recorded, processes } = team;
  const asked = recorded.roleRequests.filter((userId) => grantedTo.includes(userId));
  return asked.flatMap((userId) => {
    const told = recorded.toldTo(userId).filter((one) => one.isNew && /made you .*viewer/.test(one.written));
    const isTwice = told.length > 1 + processes.killedAt.length;
    return told.length === 0 || isTwice ? [`${userId} was told ${told.length} times of the role`] : [];
  });
}

/** At most 300 requests in any 60 seconds, as they arrived. */
function findExcess({ team }: Evidence): readonly string[] {
  const most = countMostInAMinute(team);
  const limited = team.hosting.requests({ code: 'rate_limited' }).filter(({ fault }) => fault === undefined);
  return [
    ...(most > MOST_REQUESTS ? [`${most} requests in a minute`] : []),
    ...(limited.length > 0 ? [`the hosting service refused ${limited.length} requests`] : []),
  ];
}

export function countMostInAMinute({ hosting, account }: SoakTeam): number {
  return mostInAnyWindow(hosting.requests({ accountId: account.id }).map(({ realAtMs }) => realAtMs));
}

/** No process ended by itself, and none met a defect. */
function findProcessFaults({ team, log }: Evidence): readonly string[] {
  const { surprises } = team.processes;
  const defects = log
    .split('\n')
    .filter((line) => /unhandled|TypeError|RangeError|ReferenceError|UnhandledPromise/i.test(line));
  return [
    ...surprises.map(({ pid, output }) => `process ${pid} ended by itself: ${output}`),
    ...new Set(defects),
  ];
}

/** An operation as the database has it. */
interface StoredOrder {
  readonly id: string;
  readonly actor_id: string;
  readonly kind: 'create' | 'renew';
  readonly purchase: string;
  readonly state: string;
  readonly reason: string | null;
  readonly server_id: string | null;
  readonly has_password: number;
}

/** Runs a statement beside the app; undefined while the database is away. */
async function query<Row extends object>({ postgres }: SoakTeam, sql: string) {
  const rows = await queryDatabase(postgres.url, sql).catch(() => undefined);
  return rows as readonly Row[] | undefined;
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

/** How large the database is; undefined while it is away. */
export async function readSize(team: SoakTeam): Promise<number | undefined> {
  const rows = await query<{ bytes: number }>(
    team,
    'select pg_database_size(current_database())::float as bytes',
  );
  return rows?.[0]?.bytes;
}

/** The users whose request for a role was granted. */
export async function readGranted(team: SoakTeam): Promise<readonly string[]> {
  const text = "select requester_id from requests where kind = 'role' and state = 'approved'";
  return (await read<{ requester_id: string }>(team, text)).map(({ requester_id }) => requester_id);
}

/**
 * What still has to be done, in words: orders and deletes without an outcome, users who were not told, and all jobs but those that
 * come round again, of what waits for a person (an order to be decided, a request to be answered), and of servers that are followed,
 * which takes up to ten minutes.
 */
const UNDONE = `
  select kind || ' ' || state as what from operations where state in ('prepared', 'sent') or told_at = 0
  union all select kind || ' request ' || state || ' untold' from requests where is_told = 0
  union all select 'a job of the kind ' || kind from jobs where kind not in ('expire', 'prune', 'publish heads', 'follow')
    and key not in (select id from operations where state = 'unconfirmed')
    and key not in (select id from requests where state = 'open')`;

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
  await read(team, 'update jobs set lease_until = 0 where lease_until > 0');
}

/** What users tried again and again without any effect tests nothing: the words of the app may have changed. */
function findUntested({ team, grantedTo }: Evidence): readonly string[] {
  const { hosting, recorded } = team;
  const done = {
    orderServer: hosting.requests({ operation: 'create', didWork: true }).length,
    renewTogether: hosting.requests({ operation: 'renew', didWork: true }).length,
    deleteApproved: hosting.requests({ operation: 'delete', didWork: true }).length,
    reboot: hosting.requests({ operation: 'reboot', didWork: true }).length,
    askForRole: grantedTo.length,
  };
  return Object.entries(done).flatMap(([name, times]) => {
    const tried = recorded.acts.get(name) ?? 0;
    return tried >= FEWEST_TRIES && times === 0 ? [`${tried} times ${name}, and nothing came of it`] : [];
  });
}

const FEWEST_TRIES = 10;
