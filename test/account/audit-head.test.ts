import { describe, expect, test } from 'vitest';
import { createAuditPublisher } from '../../src/account/audit.ts';
import type { Store } from '../../src/context.ts';
import { silentLog } from '../../src/log.ts';
import { realSystem } from '../../src/system.ts';
import { engines, entry, open, T0 } from '../db/support.ts';
import { makeContext } from '../support/context.ts';

const HOUR_MS = 3_600_000;

function makePublisher(store: Store) {
  const lines: string[] = [];
  const info = (_: string, { workspaceId, seq }: Record<string, unknown> = {}) => {
    lines.push(`${workspaceId}:${seq}`);
  };
  const publish = createAuditPublisher(makeContext(store, { log: { ...silentLog, info } }));
  return { publish: async () => [await publish(), lines.splice(0)][1] };
}

describe.each(engines)('the head of an audit on $name', ({ make }) => {
  test('is published once the log has grown, and not again while nothing happens', async () => {
    const store = await make();
    const { audit } = store;
    const { publish } = makePublisher(store);
    expect(await publish()).toEqual([]);
    for (const workspaceId of ['T1', 'T2', 'T3']) await audit.add(entry({ workspaceId }));
    expect(await publish()).toEqual(['T1:1', 'T2:1', 'T3:1']);
    expect(await publish()).toEqual([]);
    await audit.add(entry({ workspaceId: 'T2' }));
    expect(await publish()).toEqual(['T2:2']);
  });
});

test('the head of an audit that has not grown for hours is left out after a restart, too', async () => {
  let now = T0;
  const store = await open('sqlite::memory:', { system: { ...realSystem, now: () => now } });
  const { audit } = store;
  await audit.add(entry({ workspaceId: 'T1', at: now }));
  now += HOUR_MS;
  await audit.add(entry({ workspaceId: 'T2', at: now }));
  expect(await makePublisher(store).publish()).toEqual(['T1:1', 'T2:1']);
  now += HOUR_MS;
  await audit.add(entry({ workspaceId: 'T3', at: now }));
  now += 24 * HOUR_MS;
  expect(await makePublisher(store).publish()).toEqual(['T2:1', 'T3:1']);
  expect(await audit.listHeads()).toHaveLength(3);
  await audit.add(entry({ workspaceId: 'T4', at: now + 365 * 24 * HOUR_MS }));
  expect(await makePublisher(store).publish()).toEqual(['T2:1', 'T3:1', 'T4:1']);
});
