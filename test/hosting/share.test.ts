import { describe, expect, it, test, vi } from 'vitest';
import { isRefusal } from '../../src/core/errors.ts';
import type { CallOptions } from '../../src/hosting/hosting-api.ts';
import type { Transport } from '../../src/hosting/send.ts';
import { createShare, type Read } from '../../src/hosting/share.ts';
import { realSystem } from '../../src/system.ts';
import { holdTime, KEY, settle, startClient } from './support.ts';

/** Requests that are sent and answered when the test says so. */
function open(keepMs = 2_000) {
  let now = 0;
  const share = createShare({ ...realSystem, elapsed: () => now });
  const requests: {
    read: Read;
    leave: () => Promise<void>;
    land: (answer: string) => void;
    fail: () => void;
  }[] = [];
  const read = share.reader(keepMs, (read) => {
    return new Promise<string>((resolve, reject) => {
      const fail = () => reject(new Error('failed'));
      requests.push({ read, leave: read.beforeSend, land: resolve, fail });
    });
  });
  const ask = async (options?: CallOptions) => {
    const answer = read(options);
    await settle();
    return { answer };
  };
  /** The request of this number, which has to be there. */
  const request = (index: number) => {
    const found = requests[index];
    if (!found) throw new Error(`no request ${index}`);
    return found;
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { share, requests, request, ask, pass };
}

describe('a shared read', () => {
  it('is one request for all callers while it is in flight', async () => {
    const { ask, request, requests } = open();
    const first = await ask();
    await request(0).leave();
    const second = await ask();
    request(0).land('list');
    expect(await Promise.all([first.answer, second.answer])).toEqual(['list', 'list']);
    expect(requests).toHaveLength(1);
  });

  it('reuses the last answer for as long as that is valid', async () => {
    const { ask, request, requests, pass } = open();
    const first = await ask();
    await request(0).leave();
    request(0).land('list');
    await first.answer;
    pass(1_999);
    expect(await (await ask()).answer).toBe('list');
    pass(1);
    await ask();
    expect(requests).toHaveLength(2);
  });

  it('shares a failure with the callers that wait, and with no later ones', async () => {
    const { ask, request, requests } = open();
    const [first, second] = [await ask(), await ask()];
    await request(0).leave();
    request(0).fail();
    await expect(first.answer).rejects.toThrow('failed');
    await expect(second.answer).rejects.toThrow('failed');
    const third = await ask();
    await request(1).leave();
    request(1).land('list');
    expect(await third.answer).toBe('list');
    expect(requests).toHaveLength(2);
  });

  it('by a user doesn’t wait in line behind a background read', async () => {
    const { ask, request, requests } = open();
    await ask({ urgency: 'background' });
    const person = await ask({ urgency: 'user' });
    expect(requests.map(({ read }) => read.urgency)).toEqual(['background', 'user']);
    const background = await ask({ urgency: 'background' });
    expect(requests).toHaveLength(2);
    await request(1).leave();
    request(1).land('list');
    expect(await Promise.all([person.answer, background.answer])).toEqual(['list', 'list']);
  });

  it('by a user joins a background read that has been sent', async () => {
    const { ask, request, requests } = open();
    await ask({ urgency: 'background' });
    await request(0).leave();
    await ask({ urgency: 'user' });
    expect(requests).toHaveLength(1);
  });

  it('notifies every caller once of a wait, also those that join late', async () => {
    const { ask, request } = open();
    const [early, late] = [vi.fn(), vi.fn()];
    await ask({ onWait: early });
    request(0).read.onWait();
    await ask({ onWait: late });
    request(0).read.onWait();
    expect(early).toHaveBeenCalledOnce();
    expect(late).toHaveBeenCalledOnce();
  });
});

describe('a fresh read', () => {
  it('never uses an earlier answer, nor one that was in flight', async () => {
    const { ask, request, requests } = open();
    const shared = await ask();
    await request(0).leave();
    const fresh = await ask({ freshness: 'fresh' });
    expect(requests).toHaveLength(2);
    await request(1).leave();
    request(1).land('new');
    request(0).land('old');
    expect(await fresh.answer).toBe('new');
    expect(await shared.answer).toBe('old');
    await ask({ freshness: 'fresh' });
    expect(requests).toHaveLength(3);
  });

  it('is one request for all callers that came before it was sent', async () => {
    const { ask, request, requests } = open();
    await ask();
    await ask({ freshness: 'fresh' });
    await ask({ freshness: 'fresh' });
    expect(requests).toHaveLength(1);
    await request(0).leave();
    await ask({ freshness: 'fresh' });
    expect(requests).toHaveLength(2);
  });
});

describe('after a change, however it ended', () => {
  for (const outcome of ['done', 'failed']) {
    const change = (share: ReturnType<typeof open>['share'], during = async () => {}) =>
      share
        .change(async () => {
          await during();
          if (outcome === 'failed') throw new Error('no answer');
        })
        .catch(() => {});

    it(`(${outcome}) answers from before the change are no longer used`, async () => {
      const { share, ask, request, requests } = open();
      const first = await ask();
      await request(0).leave();
      request(0).land('old');
      await first.answer;
      await change(share);
      await ask();
      expect(requests).toHaveLength(2);
    });

    it(`(${outcome}) a read that was sent before the change ended is not joined, and its answer is not cached`, async () => {
      const { share, ask, request, requests } = open();
      await change(share, async () => {
        await ask();
        await request(0).leave();
      });
      const after = await ask();
      expect(requests).toHaveLength(2);
      await request(1).leave();
      request(1).land('new');
      expect(await after.answer).toBe('new');
      request(0).land('old');
      await settle();
      expect(await (await ask()).answer).toBe('new');
      expect(requests).toHaveLength(2);
    });
  }
});

const LIMIT = 300;

test('another user’s reboot waits for only a few calls of a user who never stops asking, also in another workspace', async () => {
  const { system, pass } = holdTime();
  const arrived: string[] = [];
  let refused = 0;
  const flood = (calls: number) => {
    const flooding = hosting.of(KEY, 'T1', 'the one who floods');
    void flooding.fetchServers({ freshness: 'fresh' }).catch(() => undefined);
    for (let call = 0; call < calls; call++)
      void flooding.changePower('start', 1).catch((error: unknown) => {
        if (isRefusal(error, 'too_many_waiting')) refused++;
      });
  };
  const send: Transport['send'] = async ({ method, path }) => {
    arrived.push(`${method} ${path}`);
    // Every call that is sent makes room for another one.
    if (path === '/servers/1/start') flood(2);
    const [id] = path.match(/\d+/) ?? [];
    return { status: 200, text: method === 'GET' ? '[]' : `{"id":${id},"state":"running"}` };
  };
  const transport: Transport = { send, close: async () => undefined };
  const { hosting } = startClient('http://127.0.0.1:1/v1', { system, transport });
  flood(1000);
  await pass(10_000);
  expect(arrived).toHaveLength(LIMIT);
  expect(refused).toBeGreaterThan(975);
  const reboots = (['T1', 'T2'] as const).map(async (workspaceId, index) => {
    const other = hosting.of(KEY, workspaceId, `another one of ${workspaceId}`);
    await other.fetchServers({ freshness: 'fresh' });
    await other.changePower('reboot', 7 + index);
  });
  await pass(55_000);
  await Promise.all(reboots);
  // Before each of their two calls, 25 of the one who floods, and a list that somebody else reads.
  const later = arrived.slice(LIMIT);
  for (const id of [7, 8]) expect(later.indexOf(`POST /servers/${id}/reboot`)).toBeLessThan(60);
});
