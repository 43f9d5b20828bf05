import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../src/context.ts';
import { Secret } from '../../src/core/secret.ts';
import { DEFAULT_SETTINGS } from '../../src/core/settings.ts';
import { startHosting } from '../../src/sandbox/hosting/start.ts';
import { ROLE_HOLDERS, TEAM, USERS, type User } from '../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../src/system.ts';
import { newGrant } from '../db/fixtures.ts';
import { environmentOf, installedApp } from '../support/environment.ts';
import { withStore } from '../support/killable-team.ts';
import { startPostgres } from '../support/own-postgres.ts';
import { startSlack } from '../support/slack/local-slack.ts';
import { makeDice } from '../support/tries.ts';
import { startBalancer, startProcesses } from './processes.ts';
import { startRecord } from './soak.ts';

export type SoakTeam = Awaited<ReturnType<typeof startSoakTeam>>;

const MANAGERS = ['mara', 'nina', 'omar', 'rosa', 'tim', 'uma', 'pia', 'quinn'] as const;
export const PROCESSES = 3;

/**
 * Starts three processes behind a load balancer, and everything around them, on ports and files of its own. `isLong`: leases of dead
 * processes end by themselves; otherwise, at the end, at once.
 */
export async function startSoakTeam(seed: number, isLong: boolean) {
  const parts: AsyncDisposable[] = [];
  const keep = <Part extends AsyncDisposable>(part: Part): Part => {
    parts.push(part);
    return part;
  };
  const dispose = async () => {
    for (const part of parts.reverse()) await part[Symbol.asyncDispose]();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'vps-soak-'));
    keep({ [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }) });
    const team = await startAround(folder, seed, keep);
    return { ...team, isLong, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function startAround(
  folder: string,
  seed: number,
  keep: <Part extends AsyncDisposable>(part: Part) => Part,
) {
  const postgres = keep(await startPostgres(folder));
  const hosting = keep(
    await startHosting({ createDelayMs: 200, rebootDelayMs: 0, journalCapacity: 500_000 }),
  );
  // Hundreds of acts in a minute: Slack's tiers and one announcement a second have tests of their own.
  const slack = keep(await startSlack({ app: installedApp('http'), hasRateLimits: false }));
  const account = hosting.accounts.create({ name: 'Team', balanceMinor: 1_000_000_000 });
  const managers = MANAGERS.map((name) =>
    name === 'mara' ? USERS.mara : slack.admin.addUser({ id: `U0MANAGER${name.toUpperCase()}`, name }),
  );
  const environment = environmentOf(slack, hosting, folder, {
    DATABASE_URL: postgres.url,
    DOUBT_MINUTES: '1',
  });
  const apiKey = hosting.createKey(account, { beforeTopUp: true });
  await prepare(postgres.url, apiKey, managers);
  const machines = Array.from({ length: PROCESSES }, (_, at) => ({
    ...environment,
    SPILL_DIR: join(folder, `answers-${at}`),
  }));
  const processes = keep(await startProcesses(machines));
  const balancer = keep(await startBalancer(processes.running));
  slack.app.commandsUrl = `${balancer.url}/slack/events`;
  const recorded = startRecord(slack);
  const startedAtMs = Date.now();
  return {
    dice: makeDice(seed),
    slack,
    hosting,
    account,
    apiKey,
    postgres,
    processes,
    recorded,
    /** Those who order; the last two renew together. */
    managers,
    startedAtMs,
  };
}

/** The key, the roles, and approvals for deletions. */
async function prepare(databaseUrl: string, key: string, managers: readonly User[]): Promise<void> {
  const at = realSystem.now();
  const settings = { ...DEFAULT_SETTINGS, approval: { ...DEFAULT_SETTINGS.approval, delete: true } };
  const holders = [...ROLE_HOLDERS, ...managers.map(({ id }) => ({ id, role: 'manager' as const }))];
  const fill = async ({ apiKeys, workspaces, grants }: Store) => {
    await apiKeys.put(TEAM.id, new Secret(key), USERS.olga.id, at);
    await workspaces.put({ id: TEAM.id, name: TEAM.name });
    await workspaces.changeSettings(TEAM.id, DEFAULT_SETTINGS, settings);
    for (const { id, role } of holders)
      await grants.put(newGrant({ workspaceId: TEAM.id, subjectId: id, role }));
  };
  await withStore({ DATABASE_URL: databaseUrl }, fill, { lock: true });
}
