import { beforeEach, describe, expect, test } from 'vitest';
import { createAccountRecognition } from '../../../src/account/one-account.ts';
import type { Store } from '../../../src/context.ts';
import { HostingError } from '../../../src/core/errors.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { Server } from '../../../src/core/server.ts';
import type { HostingApi } from '../../../src/hosting/hosting-api.ts';
import { silentLog } from '../../../src/log.ts';
import { stillSystem, T0 } from '../../store/fixtures.ts';
import { open } from '../../store/support.ts';
import { makeHosting } from '../support/make-hosting.ts';

const WEB: Server = { id: 7, label: 'web-1', state: 'running', ipv4: '198.18.0.7' };
type Shown = readonly Server[] | HostingError;

/** What each key shows, list after list; the last one stays. */
let shows: Record<'a' | 'b', Shown[]>;
let reads: string[];
let elapsedMs: number;
let store: Store;
let apis: Record<string, HostingApi>;
let recognition: ReturnType<typeof createAccountRecognition>;

beforeEach(async () => {
  store = await open('sqlite::memory:');
  [shows, reads, elapsedMs] = [{ a: [], b: [] }, [], 0];
  await store.apiKeys.put('TA', new Secret('a'), 'U1', T0);
  await store.apiKeys.put('TB', new Secret('b'), 'U1', T0);
  apis = { a: apiOf('a'), b: apiOf('b') };
  recognition = createAccountRecognition({
    ...store,
    system: { ...stillSystem, elapsed: () => elapsedMs },
    log: silentLog,
    hostingOf: (key) => apis[key.reveal()] ?? makeHosting({}),
  });
});

function apiOf(key: 'a' | 'b'): HostingApi {
  const account = store.accounts.nameOf(new Secret(key));
  return makeHosting({
    account,
    fetchServers: async () => {
      reads.push(key);
      const shown = (shows[key].length > 1 ? shows[key].shift() : shows[key][0]) ?? [];
      if (shown instanceof HostingError) throw shown;
      return { servers: shown, extent: 'whole', unreadableCount: 0 };
    },
  });
}

const recognize = (key: 'a' | 'b', servers: readonly Server[]) =>
  recognition.recognize(apis[key] ?? makeHosting({}), servers);

async function isOne() {
  const [a, b] = [apis.a?.account ?? '', apis.b?.account ?? ''];
  return (await store.accounts.find(a)) === (await store.accounts.find(b));
}

describe('two keys', () => {
  test('open one account if a server is shown under one, then the other, and then the first again', async () => {
    shows = { a: [[WEB]], b: [[WEB]] };
    await recognize('a', [WEB]);
    expect([await isOne(), reads]).toEqual([false, []]);
    await recognize('b', [WEB]);
    expect([await isOne(), reads]).toEqual([true, ['a', 'b']]);
  });

  test.each<[string, Shown, Shown]>([
    ['its address was given to another account after it was deleted', [], [WEB]],
    ['it was listed as deleted by then', [{ ...WEB, state: 'deleted' }], [WEB]],
    ['it has another label there', [{ ...WEB, label: 'web-2' }], [WEB]],
    ['it has another ID there', [{ ...WEB, id: 8 }], [WEB]],
    ['it has another address there', [{ ...WEB, ipv4: '198.18.0.9' }], [WEB]],
    ['it was gone from the first before the second could show it at the same time', [WEB], []],
    [
      'the three were shown, but not of one server',
      [
        { ...WEB, id: 8 },
        { ...WEB, label: 'db' },
      ],
      [WEB],
    ],
  ])('stay two accounts where %s', async (_name, theirs, ours) => {
    await recognize('a', [WEB]);
    shows = { a: [theirs], b: [ours] };
    await recognize('b', [WEB]);
    expect(await isOne()).toBe(false);
  });

  test.each([
    '10.0.0.7',
    '192.168.1.7',
    '172.16.0.7',
    '100.64.0.7',
    '169.254.0.7',
    '127.0.0.1',
    '0.0.0.0',
    '',
    'pending',
  ])('stay two accounts where the address %s is none of the Internet', async (ipv4) => {
    const server = { ...WEB, ipv4 };
    shows = { a: [[server]], b: [[server]] };
    await recognize('a', [server]);
    await recognize('b', [server]);
    expect([await isOne(), reads]).toEqual([false, []]);
  });

  test('stay two accounts while one of them is rejected, and are tried again later', async () => {
    await recognize('a', [WEB]);
    shows = { a: [new HostingError('unauthorized', 'no')], b: [[WEB]] };
    await recognize('b', [WEB]);
    await recognize('b', [WEB]);
    expect([await isOne(), reads]).toEqual([false, ['a']]);
    shows.a = [[WEB]];
    elapsedMs = 11 * 60_000;
    await recognize('b', [WEB]);
    expect(await isOne()).toBe(true);
  });

  test('are recognized although a process died, or its database failed, between the lists', async () => {
    await recognize('a', [WEB]);
    shows = { a: [[WEB]], b: [[WEB]] };
    const { join } = store.accounts;
    Object.assign(store.accounts, { join: () => Promise.reject(new Error('the disk is full')) });
    await expect(recognize('b', [WEB])).rejects.toThrow('the disk is full');
    expect(await isOne()).toBe(false);
    Object.assign(store.accounts, { join });
    await recognize('b', [WEB]);
    expect(await isOne()).toBe(true);
  });

  test('are compared once for all who wait for it', async () => {
    shows = { a: [[WEB]], b: [[WEB]] };
    await recognize('a', [WEB]);
    await Promise.all([recognize('b', [WEB]), recognize('b', [WEB]), recognize('b', [WEB])]);
    expect([await isOne(), reads]).toEqual([true, ['a', 'b']]);
  });

  test('are recognized among thousands of servers, of which one has only some', async () => {
    const servers = Array.from({ length: 3000 }, (_, at) => ({
      ...WEB,
      id: 3000 - at,
      label: `web-${at}`,
      ipv4: `198.18.${at >> 8}.${at & 255}`,
    }));
    shows = { a: [servers], b: [servers] };
    await recognize('a', servers);
    await recognize('b', servers.slice(0, -10));
    expect(await isOne()).toBe(true);
  });

  test('of which no workspace has one any more stay two accounts', async () => {
    shows = { a: [[WEB]], b: [[WEB]] };
    await recognize('a', [WEB]);
    await store.apiKeys.remove('TA');
    await recognize('b', [WEB]);
    expect([await isOne(), reads]).toEqual([false, []]);
  });
});

test('a list that was read for something else is considered aside, and once', async () => {
  shows = { a: [[WEB]], b: [[WEB]] };
  await recognize('a', [WEB]);
  const list = [WEB];
  for (let times = 0; times < 3; times++) recognition.notice(apis.b ?? makeHosting({}), list);
  await expect.poll(isOne).toBe(true);
  recognition.notice(apis.b ?? makeHosting({}), [WEB]);
  expect(reads).toEqual(['a', 'b']);
});
