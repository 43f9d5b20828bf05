import { beforeEach, describe, expect, it } from 'vitest';
import { connectKey, disconnectKey } from '../../src/account/keys.ts';
import type { AppContext, Store } from '../../src/context.ts';
import { createEntry } from '../../src/core/entry.ts';
import { HostingError } from '../../src/core/errors.ts';
import { THE_COMMAND_LINE } from '../../src/core/roles.ts';
import { Secret } from '../../src/core/secret.ts';
import { open } from '../db/support.ts';
import { makeContext, makeHosting, wholeList } from '../support/context.ts';

let store: Store;

beforeEach(async () => {
  store = await open('sqlite::memory:');
});

const program = (workspaceId: string) =>
  ({ actor: { workspaceId, userId: THE_COMMAND_LINE }, surface: 'cli' }) as const;

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
