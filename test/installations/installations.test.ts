import { describe, expect, test } from 'vitest';
import type { Store } from '../../src/context.ts';
import { Secret } from '../../src/core/secret.ts';
import type { BotTokens, NewInstallation } from '../../src/installations/installations.ts';
import { INSTALLATION } from '../../src/installations/store.ts';
import { NO_KEY } from '../../src/workflows/run.ts';
import { engines, entry, markSent, newCreate, T0 } from '../db/support.ts';

const tokens = (bot: string): BotTokens => ({ bot: new Secret(bot) });
const acme = (bot = 'xoxb-acme', more: Partial<NewInstallation> = {}): NewInstallation => ({
  id: 'T1',
  isOrg: false,
  name: 'Acme',
  installedBy: 'U1',
  installedAt: T0,
  tokens: tokens(bot),
  ...more,
});
const rotating = (bot: string, expiresAt: number): BotTokens => ({
  bot: new Secret(bot),
  rotation: { expiresAt, refreshToken: new Secret(`refresh-${bot}`) },
});
const org = (more: Partial<NewInstallation> = {}) => acme('xoxb-org', { id: 'E1', isOrg: true, ...more });

const actionsOf = async (store: Store, workspaceId = 'T1') =>
  (await store.audit.list({ workspaceId, limit: 99 })).map(({ action, label }) => `${action} ${label ?? ''}`);

async function sendOrder(store: Store, workspaceId: string, label = 'web-1') {
  const operation = newCreate(label, { workspaceId });
  await store.ledger.prepare(operation);
  await markSent(store, operation.id, T0, []);
  return operation;
}

describe.each(engines)('an installation on $name', ({ make }) => {
  test('makes no one an owner of a workspace that has an API key', async () => {
    const store = await make();
    await store.apiKeys.put('T3', new Secret('key'), 'U9', T0);
    await store.installationStore.install(acme('c', { id: 'T3' }));
    expect(await store.grants.list('T3')).toEqual([]);
  });

  test('of an organization is erased with the workspaces from which the app was taken before; with own installs, they stay', async () => {
    const store = await make();
    const { installationStore } = store;
    const installed = await installationStore.install(org());
    for (const id of ['T1', 'T2']) {
      await installationStore.serve({ id, name: id }, installed, T0);
      await store.apiKeys.put(id, new Secret('key'), 'U1', T0);
      await installationStore.stopServing(id, 'T9');
      expect(await installationStore.findServing(id)).toBeDefined();
      await installationStore.stopServing(id, 'E1');
      expect(await installationStore.findServing(id)).toBeUndefined();
    }
    expect(await store.apiKeys.find('T1')).toBeDefined();
    await installationStore.install(acme('own', { id: 'T2' }));
    await installationStore.erase(installed);
    expect(await store.apiKeys.find('T1')).toBeUndefined();
    expect(await actionsOf(store)).toContain('uninstall ');
    expect(await store.apiKeys.find('T2')).toBeDefined();
    expect(await installationStore.findServing('T2')).toMatchObject({ id: 'T2' });
  });

  test('of an organization that was uninstalled meanwhile serves no further workspace, and leaves nothing there', async () => {
    const store = await make();
    const { installationStore } = store;
    const seen = await installationStore.install(org());
    const serve = () => installationStore.serve({ id: 'T1', name: 'T1' }, seen, T0);
    await installationStore.erase(seen);
    expect(await serve()).toBe(false);
    const again = await installationStore.install(org({ installedBy: 'U2' }));
    expect(await serve()).toBe(false);
    expect([await store.grants.list('T1'), await actionsOf(store)]).toEqual([[], []]);
    expect(await installationStore.serve({ id: 'T1', name: 'T1' }, again, T0)).toBe(true);
    expect(await store.grants.list('T1')).toMatchObject([{ subjectId: 'U2', role: 'owner' }]);
  });

  test('has its tokens replaced once, even if several processes have read the same ones', async () => {
    const { installationStore } = await make();
    const first = await installationStore.install(acme('', { tokens: rotating('a', T0 + 10) }));
    expect(await installationStore.replaceTokens(first, rotating('b', T0 + 20))).toBe(true);
    expect(await installationStore.replaceTokens(first, rotating('c', T0 + 30))).toBe(false);
    await installationStore.markTokenRefused(first, true);
    const found = await installationStore.find('T1');
    expect(found).toMatchObject({ isTokenRefused: false, tokens: { rotation: { expiresAt: T0 + 20 } } });
    expect(found?.tokens.rotation?.refreshToken.reveal()).toBe('refresh-b');
  });

  test('is erased with what its workspace kept for a time, and with its notes; protections stay', async () => {
    const store = await make();
    const { kept, replyUrls, connectLinks, seenRequests, serverNotes, workflowKeys, workflowRuns } = store;
    const installed = await store.installationStore.install(acme());
    const serverId = 1001;
    const issued = { pattern: '', issuedBy: 'U1', issuedAt: T0 };
    const workflowKey = { name: 'nightly', hash: 'h', actions: [], ...issued };
    const place = { channelId: 'C1', receivedAt: T0 };
    const run = { executionId: 'Fx1', action: 'reboot', label: 'web-1', ...place } as const;
    for (const id of ['T1', 'T2']) {
      await kept.put('thread', id, id, { ts: '1.5', isOpen: false }, T0 + 1);
      await kept.put('message', id, id, { channelId: 'C1', ts: '1.5' }, T0 + 1);
      await replyUrls.store(id, id, new Secret('https://hooks.slack.example/1'), T0 + 1);
      await connectLinks.put({ tokenHash: id, workspaceId: id, userId: 'U1', expiresAt: T0 + 1 });
      await serverNotes.put('note', id, { serverId, label: 'w', text: 'x', notedBy: 'U1', notedAt: T0 });
      await serverNotes.put('protection', id, { serverId, protectedBy: 'U1' });
      await workflowKeys.add({ ...workflowKey, id, workspaceId: id });
      await workflowRuns.receive({ ...run, key: NO_KEY, id, workspaceId: id }, new Secret('xwfp'));
    }
    await seenRequests.addFirst('r', T0);
    await store.installationStore.erase(installed);
    const listFound = async (id: string) => [
      await kept.find('thread', id),
      await kept.find('message', id),
      await replyUrls.use(id, T0),
      await connectLinks.find(id, T0),
      await serverNotes.find('note', id, serverId),
      await workflowKeys.find(id, id),
      await workflowRuns.find(id, id),
    ];
    expect((await listFound('T1')).filter((each) => each !== undefined)).toEqual([]);
    expect((await listFound('T2')).filter((each) => each === undefined)).toEqual([]);
    expect(await serverNotes.find('protection', 'T1', serverId)).toBeDefined();
    expect(await seenRequests.addFirst('r', T0)).toBe(false);
  });

  test.each([
    ['the password', true],
    ['an unclear answer', false],
  ])('that was erased keeps nothing of an order that is answered later with %s', async (_what, isClear) => {
    const store = await make();
    const { id } = await sendOrder(store, 'T1');
    const installed = await store.installationStore.install(acme());
    await store.installationStore.erase(installed);
    const found = { at: T0, serverId: 1 };
    const paid = { ...found, password: new Secret('canary-password'), isFirstHand: true };
    const unclear = {
      ...{ reason: { code: 'unreadable_answer', details: {} } as const },
      sealedAnswer: new Secret('{"pw":"canary-password"}'),
    };
    if (!isClear) await store.ledger.markUnconfirmed(id, unclear, entry({ operationId: id }));
    await store.ledger.settle(id, isClear ? paid : found, entry({ operationId: id }));
    expect(await store.passwords.listHeld('T1')).toEqual([]);
    expect(await store.ledger.find(id)).toMatchObject({ state: 'settled', hasPassword: isClear });
    expect(await actionsOf(store)).toContain('password_erased web-1');
    expect(await store.audit.verify('T1')).toMatchObject({ ok: true });
  });

  test('that was erased and repeated keeps the password of an order that is answered then', async () => {
    const store = await make();
    const { id } = await sendOrder(store, 'T1');
    const installed = await store.installationStore.install(acme());
    await store.installationStore.erase(installed);
    await store.installationStore.install(acme('b'));
    const settled = { at: T0, serverId: 1, password: new Secret('canary-password'), isFirstHand: true };
    await store.ledger.settle(id, settled, entry({ operationId: id }));
    expect((await store.passwords.find(id))?.password.reveal()).toBe('canary-password');
  });

  test('is not erased by what is said about an earlier one', async () => {
    const { installationStore } = await make();
    const first = await installationStore.install(acme());
    await installationStore.install(acme('xoxb-second'));
    expect(await installationStore.erase(first)).toBe(false);
    expect((await installationStore.find('T1'))?.tokens.bot.reveal()).toBe('xoxb-second');
  });

  test('is not erased by what is said about a token that another process has renewed since', async () => {
    const { installationStore } = await make();
    const was = await installationStore.install(acme('', { tokens: rotating('a', T0 + 10) }));
    expect(await installationStore.replaceTokens(was, rotating('b', T0 + 20))).toBe(true);
    expect(await installationStore.erase(was)).toBe(false);
    expect((await installationStore.find('T1'))?.tokens.bot.reveal()).toBe('b');
  });

  test('remembers that it is said to be revoked, until that is settled', async () => {
    const { installationStore, jobStore } = await make();
    const listDue = async () => (await jobStore.list(INSTALLATION, 'T1')).map(({ key }) => key);
    const revokedAt = async () => (await installationStore.find('T1'))?.revokedAt;
    await installationStore.noteRevocation('T1', T0);
    await installationStore.install(acme());
    expect([await revokedAt(), await listDue()]).toEqual([undefined, []]);
    await installationStore.noteRevocation('T1', T0 + 5);
    await installationStore.noteRevocation('T1', T0 + 4);
    expect([await revokedAt(), await listDue()]).toEqual([T0 + 5, ['T1']]);
    await installationStore.dropRevocation('T1', T0 + 4);
    expect(await revokedAt()).toBe(T0 + 5);
    await installationStore.dropRevocation('T1', T0 + 5);
    expect(await revokedAt()).toBeUndefined();
  });
});
