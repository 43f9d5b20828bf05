import { describe, expect, test } from 'vitest';
import { createAuditPublisher } from '../../src/account/audit.ts';
import type { Store } from '../../src/context.ts';
import { silentLog } from '../../src/log.ts';
import { engines, entry } from '../db/support.ts';
import { makeContext } from '../support/context.ts';

function makePublisher(store: Store) {
  const lines: string[] = [];
  const info = (_: string, { workspaceId, seq }: Record<string, unknown> = {}) => {
    lines.push(`${workspaceId}:${seq}`);
  };
  const publish = createAuditPublisher(makeContext(store, { log: { ...silentLog, info } }));
  return { publish: async () => [await publish(), lines.splice(0)][1] };
}

describe.each(engines)('the head of an audit on $name', ({ make }) => {
  test('is published once the log has grown and at each start, and not again while nothing happens', async () => {
    const store = await make();
    const { audit } = store;
    const { publish } = makePublisher(store);
    expect(await publish()).toEqual([]);
    for (const workspaceId of ['T1', 'T2', 'T3']) await audit.add(entry({ workspaceId }));
    expect(await publish()).toEqual(['T1:1', 'T2:1', 'T3:1']);
    expect(await publish()).toEqual([]);
    await audit.add(entry({ workspaceId: 'T2' }));
    expect(await publish()).toEqual(['T2:2']);
    // The next process.
    expect(await makePublisher(store).publish()).toEqual(['T1:1', 'T2:2', 'T3:1']);
  });
});
