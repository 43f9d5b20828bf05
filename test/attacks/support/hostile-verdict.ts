import { DatabaseSync } from '@photostructure/sqlite';
import { expect } from 'vitest';
import type { Delivery } from '../../../src/sandbox/slack/deliver.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { type HostileTeam, UNPRIVILEGED } from './hostile-team.ts';

interface OrderRow {
  readonly id: string;
  readonly actor_id: string;
  readonly kind: string;
  readonly state: string;
  readonly reason: string | null;
  readonly server_id: number | null;
  readonly attempt: number;
}

function readOrders({ environment }: HostileTeam): readonly OrderRow[] {
  const path = (environment.DATABASE_URL ?? '').replace(/^sqlite:/, '');
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare("select * from operations where kind <> 'delete'").all();
  database.close();
  return rows as unknown as OrderRow[];
}

/** Waits until every order has an outcome, or is looked for. */
export async function settleOrders(team: HostileTeam): Promise<void> {
  const isMoving = ({ state }: OrderRow) => state === 'prepared' || state === 'sent';
  await expect.poll(() => readOrders(team).filter(isMoving), { timeout: 150_000, interval: 50 }).toEqual([]);
}

/** What was paid is what is recorded, or is still looked for; no order was paid twice. */
export function checkMoney(team: HostileTeam): void {
  const { hosting, account } = team;
  const orders = readOrders(team);
  const settled = orders.filter(({ state }) => state === 'settled');
  const open = orders.filter(({ state, reason }) => state === 'unconfirmed' || reason === 'decided_not_done');
  const paid = hosting.charges(account).length - hosting.refunds(account).length;
  expect(paid, 'charges for what is recorded').toBeGreaterThanOrEqual(
    settled.length - countMadeUp(settled, team),
  );
  expect(paid, 'no charge that nobody knows of').toBeLessThanOrEqual(settled.length + open.length);
  const sent = hosting.requests().filter(({ operation, code }) => {
    return (operation === 'create' || operation === 'renew') && code !== 'rate_limited';
  });
  const attempts = orders.filter(({ attempt }) => attempt > 0);
  expect(sent.length, 'one paid request for each confirmation').toBeLessThanOrEqual(attempts.length);
}

/** A manager may decide that an order was done although it was not. */
function countMadeUp(settled: readonly OrderRow[], { hosting, account }: HostileTeam): number {
  const charged = new Set(hosting.charges(account).map(({ serverId }) => serverId));
  return settled.filter(({ server_id }) => server_id === null || !charged.has(server_id)).length;
}

/** A root password is in its creator's messages alone, and in no log. */
export function checkPasswords(team: HostileTeam): void {
  const creates = readOrders(team).filter(({ kind }) => kind === 'create');
  const creators = new Map(creates.map(({ server_id, actor_id }) => [server_id, actor_id]));
  const ids = team.hosting.requests({ operation: 'create' }).flatMap(({ serverId }) => serverId ?? []);
  const log = team.logged.join('\n');
  for (const id of ids) {
    const password = team.hosting.passwordOf(id);
    if (password === undefined) continue;
    expect(log).not.toContain(password);
    const written = JSON.stringify(password).slice(1, -1);
    const holders = team.messages.filter(({ blocks }) => JSON.stringify(blocks).includes(written));
    for (const { to, text } of holders) {
      expect(to, `who reads the root password of ${id}`).toBe(creators.get(id));
      expect(text).not.toContain(password);
    }
  }
}

const FREE = ['panel', 'list', 'show', 'catalog', 'status', 'password', 'access_ask', 'access_withdraw'];

/** Users without a role, guests and strangers changed nothing. */
export async function checkPermissions(team: HostileTeam): Promise<void> {
  for (const id of [...UNPRIVILEGED.map((user) => user.id), 'U0ELSEWHERE']) {
    const entries = await team.app.ports.audit.list({ workspaceId: TEAM.id, actorId: id, limit: 10_000 });
    const done = entries.filter(({ outcome }) => outcome === 'done' || outcome === 'in_doubt');
    expect(
      done.filter(({ action }) => !FREE.includes(action)).map(({ action }) => `${id} ${action}`),
    ).toEqual([]);
  }
  expect(readOrders(team).filter(({ actor_id }) => UNPRIVILEGED.some(({ id }) => id === actor_id))).toEqual(
    [],
  );
}

/** Traces of the source code. */
const INSIDES = /\bat .+:\d+:\d+|node_modules|\.[jt]s:\d+|TypeError|ZodError/;

/** Every request was answered, those of clients in time, and nothing surprised the app. */
export function checkAnswers(team: HostileTeam): void {
  const deliveries = team.slack.deliveries();
  const isLate = ({ what, status, tookMs }: Delivery) =>
    status === null || (tookMs > 3000 && !what.startsWith('made up'));
  expect(deliveries.filter(isLate).map(describe), 'late').toEqual([]);
  // Bolt itself answers a submission without a form with 500.
  const hasFailed = ({ what, status, response }: Delivery) =>
    (status !== null && status >= 500 && !what.startsWith('made up')) || INSIDES.test(response);
  expect(deliveries.filter(hasFailed).map(describe), 'failed').toEqual([]);
  expect(team.errors).toEqual([]);
}

function describe({ what, status, tookMs, response, body }: Delivery): string {
  return `${what}: ${status} after ${tookMs} ms: ${response.slice(0, 200)} to ${body.slice(0, 1000)}`;
}

/** How many orders ended in which state, for the output. */
export function countOrders(team: HostileTeam): string {
  const states = readOrders(team).map(({ state, reason }) => [state, reason].filter(Boolean).join(' '));
  return [...new Set(states)]
    .map((one) => `${states.filter((each) => each === one).length} ${one}`)
    .join(', ');
}
