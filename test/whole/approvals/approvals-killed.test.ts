import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import { openStore } from '../../../src/db/open-store.ts';
import { createVault, parseKeyring } from '../../../src/db/vault.ts';
import { APPROVALS, type Approval } from '../../../src/requests/request.ts';
import { startHosting } from '../../../src/sandbox/hosting/start.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../../src/system.ts';
import { type AppProcess, startProcess } from '../../support/killable-team.ts';
import { TWO_PERSONS } from '../../support/ruled-team.ts';
import { startSlack } from '../../support/slack/local-slack.ts';
import { ENCRYPTION_KEY, environmentOf, installedApp } from '../../support/team.ts';

/** A workspace with the two-person rule, and an app in a process of its own. */
async function ruled() {
  const folder = await mkdtemp(join(tmpdir(), 'vps-slack-'));
  const hosting = await startHosting({ createDelayMs: 0 });
  const slack = await startSlack({
    app: installedApp(),
  });
  const account = hosting.accounts.create({ name: 'Team', balanceMinor: 100_000 });
  hosting.seedServers(account, 1, 'old');
  const environment = environmentOf(slack, hosting, folder);
  await prepare(environment.DATABASE_URL ?? '', hosting.createKey(account));
  let app: AppProcess | undefined;
  const start = async () => {
    app = await startProcess(environment);
    slack.app.commandsUrl = `${app.url}/slack/events`;
  };
  await start();
  const manager = slack.as('mara').in('#ops');
  const owner = slack.as('olga').in('dm');
  return {
    hosting,
    slack,
    manager,
    owner,
    start,
    kill: async () => app?.kill(),
    confirmCreate: async () => {
      await manager.types('/vps create plan=small location=ams image=debian-13 label=web-1');
      await manager.sees('Request approval');
      await manager.presses('Request approval');
      await manager.sees('Waiting for another manager');
    },
    confirmDelete: async () => {
      await manager.types('/vps delete old-1');
      await manager.fills({ 'To confirm, type old-1': 'old-1' });
      await manager.presses('Request approval');
      await owner.sees('wants to delete old-1');
    },
    /** What is stored of the approval that was requested. */
    findApproval: () => findApproval(environment.DATABASE_URL ?? ''),
    /** Whether everybody was told how it ended: from then on, its server is followed. */
    isNotified: (id: string) => isNotified(environment.DATABASE_URL ?? '', id),
    /** Does not wait for the answer, which a dead process never gives. */
    approve: () => void owner.presses('Approve').catch(() => undefined),
    creates: () => hosting.requests({ operation: 'create' }).length,
    deletes: () => hosting.requests({ operation: 'delete' }).length,
    charges: () => hosting.charges(account).length,
    labels: () => hosting.listServers(account).map(({ label }) => label),
    [Symbol.asyncDispose]: async () => {
      await app?.kill();
      await slack.stop();
      await hosting.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function prepare(databaseUrl: string, key: string): Promise<void> {
  const vault = createVault(parseKeyring(ENCRYPTION_KEY));
  const store = await openStore({ databaseUrl, vault, system: realSystem });
  const at = realSystem.now();
  await store.apiKeys.put(TEAM.id, new Secret(key), USERS.olga.id, at);
  await store.workspaces.put({ id: TEAM.id, name: TEAM.name }, at);
  await store.workspaces.changeSettings(TEAM.id, DEFAULT_SETTINGS, TWO_PERSONS);
  const subject = { subjectKind: 'user', subjectId: USERS.mara.id } as const;
  const grant = { role: 'manager', pattern: '', grantedBy: USERS.olga.id, grantedAt: at } as const;
  await store.grants.put({ workspaceId: TEAM.id, ...subject, ...grant });
  await store.close();
}

/** The approval that is open, or of the delete that is under way; read beside the process that works on it. */
async function findApproval(databaseUrl: string): Promise<Approval | undefined> {
  const vault = createVault(parseKeyring(ENCRYPTION_KEY));
  const store = await openStore({ databaseUrl, vault, system: realSystem, lock: false });
  const [open] = await store.requests.listOpen(TEAM.id, APPROVALS);
  const [job] = await store.jobStore.list('operation', TEAM.id);
  const approved = job && (await store.requests.find(job.key, ['delete']));
  await store.close();
  return open ?? approved;
}

async function isNotified(databaseUrl: string, id: string): Promise<boolean> {
  const vault = createVault(parseKeyring(ENCRYPTION_KEY));
  const store = await openStore({ databaseUrl, vault, system: realSystem, lock: false });
  const operation = await store.ledger.findDelete(id);
  await store.close();
  return operation?.state === 'settled' && operation.notifiedAt !== undefined;
}

/** Slack takes so long for an answer that the process is killed first. */
const SLOW_MS = 25_000;

describe.concurrent('a process that is killed', () => {
  test('before it asked a manager: the next process does, and the approved order is paid once', async ({
    expect,
  }) => {
    await using setup = await ruled();
    setup.slack.faults.slowDown('chat.postMessage', SLOW_MS);
    await setup.confirmCreate();
    await setup.kill();
    setup.slack.faults.clear();
    await setup.start();
    await setup.owner.sees('wants to create web-1');
    setup.approve();
    await setup.manager.sees("I've saved it");
    expect(setup.charges()).toBe(1);
  });

  test('while an approval is pending: its card still works', async ({ expect }) => {
    await using setup = await ruled();
    await setup.confirmCreate();
    await setup.owner.sees('wants to create web-1');
    // Its card is known to the next process then.
    await expect.poll(setup.findApproval).toMatchObject({ isNotified: true });
    await setup.kill();
    await setup.start();
    setup.approve();
    await setup.manager.sees("I've saved it");
    await setup.owner.sees('Approved by @olga');
    expect(setup.charges()).toBe(1);
    expect(setup.owner.messages().filter(({ ephemeral }) => !ephemeral)).toHaveLength(1);
  });

  test('after a create was approved and before it was sent: the next process sends it, once', async ({
    expect,
  }) => {
    await using setup = await ruled();
    await setup.confirmCreate();
    await setup.owner.sees('wants to create web-1');
    setup.slack.faults.slowDown('chat.update', SLOW_MS);
    const servers = () => setup.hosting.requests({ operation: 'servers' }).length;
    const before = servers();
    setup.hosting.faults.add({ on: 'servers', kind: 'hang_before', times: 'always' });
    setup.approve();
    await expect.poll(servers).toBeGreaterThan(before);
    await setup.kill();
    setup.hosting.faults.clear();
    setup.slack.faults.clear();
    expect(setup.creates()).toBe(0);
    await setup.start();
    await setup.manager.sees("I've saved it");
    await setup.owner.sees('Approved by @olga');
    expect(setup.charges()).toBe(1);
  });

  test.each([
    0, 10, 20, 30, 45, 60, 90,
  ])('at any moment (%i ms after a create was approved): approving again, if the buttons are still there, charges once', async (afterMs) => {
    await using setup = await ruled();
    await setup.confirmCreate();
    await setup.owner.sees('wants to create web-1');
    setup.approve();
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await setup.kill();
    await setup.start();
    if (setup.owner.screen().includes('[Approve]')) await setup.owner.presses('Approve');
    await setup.manager.sees(/I've saved it|being created|was created|wasn’t created/);
    if (setup.creates() > 1) throw new Error(`sent ${setup.creates()} times`);
    if (setup.charges() !== setup.labels().length - 1) throw new Error('charged for nothing');
    await setup.owner.sees('Approved by @olga');
  });

  test('after a delete was approved and before it was sent: the next process sends it, once', async ({
    expect,
  }) => {
    await using setup = await ruled();
    await setup.confirmDelete();
    setup.slack.faults.slowDown('chat.update', SLOW_MS);
    const looks = () => setup.hosting.requests({ operation: 'servers', ending: 'answered' }).length;
    const before = looks();
    setup.approve();
    await expect.poll(looks).toBeGreaterThan(before);
    await expect.poll(setup.findApproval).toMatchObject({ state: 'approved' });
    await setup.kill();
    setup.slack.faults.clear();
    expect(setup.deletes()).toBe(0);
    await setup.start();
    await setup.manager.sees('old-1 was deleted');
    await setup.owner.sees('Approved by @olga. old-1 was deleted');
    expect(setup.deletes()).toBe(1);
  });

  test('while an approved delete is in progress: it is looked for, not sent again, and reported', async ({
    expect,
  }) => {
    await using setup = await ruled();
    await setup.confirmDelete();
    setup.hosting.faults.add({ on: 'delete', kind: 'slow', delayMs: 10_000 });
    setup.approve();
    await expect.poll(setup.deletes).toBe(1);
    await setup.kill();
    await setup.start();
    await setup.manager.sees('old-1 was deleted');
    expect(setup.deletes()).toBe(1);
    expect(setup.labels()).toEqual([]);
  });

  test('while it follows an approved delete: the next process continues in the same message', async ({
    expect,
  }) => {
    await using setup = await ruled();
    await setup.confirmDelete();
    const { id = '' } = (await setup.findApproval()) ?? {};
    setup.approve();
    await expect.poll(setup.deletes).toBe(1);
    setup.hosting.faults.add({ on: 'servers', kind: 'hang_before', times: 'always' });
    await setup.manager.sees('@mara deleted old-1, approved by @olga');
    await expect.poll(() => setup.isNotified(id)).toBe(true);
    await setup.kill();
    setup.hosting.faults.clear();
    setup.manager.doesNotSee('no longer in the hosting account');
    await setup.start();
    await setup.manager.sees(
      '@mara deleted old-1, approved by @olga. It’s no longer in the hosting account.',
    );
    expect(setup.manager.messages().filter(({ ephemeral }) => !ephemeral)).toHaveLength(1);
    expect(setup.deletes()).toBe(1);
  });
});
