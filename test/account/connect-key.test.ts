import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportAudit, pruneAudit, verifyAudit } from '../../src/account/audit.ts';
import {
  connectKey,
  disconnectKey,
  EVERY_WORKSPACE,
  listAuditedWorkspaces,
  listConnectedWorkspaces,
  listInstalledWorkspaces,
} from '../../src/account/keys.ts';
import type { AppContext, Store } from '../../src/context.ts';
import { createEntry } from '../../src/core/entry.ts';
import { HostingError } from '../../src/core/errors.ts';
import { THE_COMMAND_LINE } from '../../src/core/roles.ts';
import { Secret } from '../../src/core/secret.ts';
import { openStore } from '../../src/db/open-store.ts';
import { stillSystem, T0, vault } from '../db/fixtures.ts';
import { makeContext, makeHosting, wholeList } from '../support/context.ts';

let store: Store;

beforeEach(async () => {
  store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system: stillSystem });
});

afterEach(async () => {
  await store.close();
});

const program = (workspaceId: string) =>
  ({ actor: { workspaceId, userId: THE_COMMAND_LINE }, surface: 'cli' }) as const;
const owner = { actor: { workspaceId: 'T1', userId: 'UOWNER' }, surface: 'command' } as const;

function openEntry(more: Partial<AppContext> = {}) {
  return createEntry(makeContext(store, { ownersOf: () => ['UOWNER'], ...more }));
}

async function outcomes(): Promise<readonly string[]> {
  const entries = await store.audit.list({ workspaceId: 'T1', limit: 20 });
  return entries.map(({ surface, actorId, action, outcome, code = '' }) =>
    [surface, actorId, action, outcome, code].join(' ').trim(),
  );
}

describe('an API key', () => {
  it('set on the command line is audited before and after, with surface `cli`', async () => {
    const entry = openEntry({ hostingOf: () => makeHosting({ fetchServers: async () => wholeList([]) }) });
    await entry.execute(connectKey, { key: new Secret('key') }, program('T1'));
    expect(await outcomes()).toEqual(['cli command line connect done', 'cli command line connect started']);
    expect(await store.apiKeys.find('T1')).toMatchObject({ setBy: THE_COMMAND_LINE });
    await entry.execute(disconnectKey, {}, program('T1'));
    expect((await outcomes())[0]).toBe('cli command line disconnect done');
  });

  it('that the hosting API refuses is audited as failed, and not stored', async () => {
    const refuse = async () => {
      throw new HostingError('unauthorized', 'no');
    };
    const entry = openEntry({ hostingOf: () => makeHosting({ fetchServers: refuse }) });
    const connecting = entry.execute(connectKey, { key: new Secret('key') }, program('T1'));
    await expect(connecting).rejects.toMatchObject({ code: 'unauthorized' });
    expect((await outcomes())[0]).toBe('cli command line connect failed unauthorized');
    expect(await store.apiKeys.find('T1')).toBeUndefined();
  });
});

describe('a use case about all workspaces', () => {
  it('is for the command line only: an owner of one workspace learns nothing about others', async () => {
    const entry = openEntry();
    await store.workspaces.put({ id: 'T1', name: 'Team' }, T0);
    const refused = expect.objectContaining({ code: 'other_workspace' });
    for (const workspaceId of ['T1', EVERY_WORKSPACE]) {
      const caller = { ...owner, actor: { ...owner.actor, workspaceId } };
      await expect(entry.execute(listConnectedWorkspaces, {}, caller)).rejects.toEqual(refused);
      await expect(entry.execute(listInstalledWorkspaces, {}, caller)).rejects.toEqual(refused);
      await expect(entry.execute(listAuditedWorkspaces, {}, caller)).rejects.toEqual(refused);
      await expect(entry.execute(pruneAudit, { before: T0 }, caller)).rejects.toEqual(refused);
    }
    expect(await entry.execute(listConnectedWorkspaces, {}, program(EVERY_WORKSPACE))).toEqual([]);
    expect(await entry.execute(listInstalledWorkspaces, {}, program(EVERY_WORKSPACE))).toEqual(['T1']);
  });

  it('leaves no audit entry when it only reads', async () => {
    const entry = openEntry();
    await entry.execute(listConnectedWorkspaces, {}, program(EVERY_WORKSPACE));
    await entry.execute(listAuditedWorkspaces, {}, program(EVERY_WORKSPACE));
    await entry.execute(verifyAudit, {}, program('T1'));
    await entry.execute(exportAudit, {}, program('T1'));
    expect(await store.audit.listWorkspaces()).toEqual([]);
  });
});
