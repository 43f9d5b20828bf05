import { describe, expect, test } from 'vitest';
import type { AppContext } from '../../src/context.ts';
import { Secret } from '../../src/core/secret.ts';
import type { Server } from '../../src/core/server.ts';
import { DEFAULT_SETTINGS, DIGEST } from '../../src/core/settings.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { askForDigests, createDigestHandler, findDueDigest, postDigest } from '../../src/reminders/digest.ts';
import type { Digest } from '../../src/reminders/digest-content.ts';
import { digestMessage, type PostedDigest } from '../../src/reminders/digest-message.ts';
import { open, stillSystem } from '../db/support.ts';
import { makeContext, makeHosting } from '../support/context.ts';

/** 09:20 of a Monday in Berlin. */
const NOW = Date.parse('2026-03-02T08:20:00Z');
const digest = { channelId: 'C1', hour: 9, zone: 'Europe/Berlin', daysBefore: [7, 3, 1] };
const server = (id: number, days: number, state = 'running'): Server => ({
  id,
  label: `web-${id}`,
  state,
  paidUntil: NOW + days * DAY_MS,
});

/** A workspace, and processes that share its store. */
async function startWorkspace() {
  const time = { now: NOW };
  const system = { ...stillSystem, now: () => time.now };
  const store = await open('sqlite::memory:', { system });
  await store.workspaces.put({ id: 'T1', name: 'Acme' });
  await store.workspaces.changeSettings('T1', DEFAULT_SETTINGS, { ...DEFAULT_SETTINGS, digest });
  await store.apiKeys.put('T1', new Secret('key'), 'U1', NOW);
  const account = { servers: [server(1, 2)] as readonly Server[], isComplete: true, reads: 0 };
  const posted: Digest[] = [];
  const hosting = makeHosting({
    fetchServers: async () => {
      account.reads += 1;
      return { servers: account.servers, extent: account.isComplete ? 'whole' : 'part', unreadableCount: 0 };
    },
  });
  /** A process of its own; `answer` is what Slack says to its post. */
  const startProcess = (answer: () => Promise<PostedDigest>): AppContext => {
    const ports = makeContext(store, { system, hostingOf: () => hosting });
    const prepare = (_id: string, _channel: string, shown: Digest) => () => {
      posted.push(shown);
      return answer();
    };
    return { ...ports, reminderNotifier: { ...ports.reminderNotifier, prepare } };
  };
  const due = () => {
    const found = findDueDigest({ workspaceId: 'T1', digest }, time.now);
    if (!found) throw new Error('no digest is due');
    return found;
  };
  return { time, store, account, posted, startProcess, due };
}

const taken = async (): Promise<PostedDigest> => ({ kind: 'posted', card: { channelId: 'C1', ts: '1.1' } });
const died = () => new Promise<never>(() => undefined);

describe('a digest', () => {
  test('is posted once even where a lease ends too early', async () => {
    const { posted, startProcess, due } = await startWorkspace();
    const processes = Array.from({ length: 6 }, () => startProcess(taken));
    await Promise.all(processes.map((ports) => postDigest(due(), ports)));
    expect(posted).toHaveLength(1);
  });

  test('that can’t be rendered leaves its day to a process that can', async () => {
    const { posted, startProcess, due } = await startWorkspace();
    const ports = startProcess(taken);
    const prepare = () => {
      throw new RangeError('Invalid time value');
    };
    const broken = { ...ports, reminderNotifier: { ...ports.reminderNotifier, prepare } };
    await expect(postDigest(due(), broken)).rejects.toThrow(RangeError);
    expect(await postDigest(due(), ports)).toBe('done');
    expect(posted).toHaveLength(1);
  });

  test('whose process crashes while it posts is not posted again; the next one has what it had', async () => {
    const { posted, startProcess, due, time, account, store } = await startWorkspace();
    account.servers = [server(1, 2), { ...server(2, 0), paidUntil: NOW - HOUR_MS }];
    void postDigest(due(), startProcess(died));
    await expect.poll(() => posted.length).toBe(1);
    time.now += 10 * MINUTE_MS;
    const other = startProcess(taken);
    expect(await postDigest(due(), other)).toBe('done');
    expect(posted).toHaveLength(1);
    time.now = NOW + DAY_MS;
    expect(await postDigest(due(), other)).toBe('done');
    expect(posted[1]?.expired.map(({ label }) => label)).toEqual(['web-2']);
    expect((await store.digests.find('T1')).live).toMatchObject({ day: '2026-03-03' });
  });

  test.each([
    [{ kind: 'unknown' } as const, 1],
    [{ kind: 'refused', reason: 'not_in_channel' } as const, 2],
  ])('to which Slack answered %j was sent %i times after another try', async (answer, times) => {
    const { posted, startProcess, due } = await startWorkspace();
    const first = startProcess(async () => answer);
    await postDigest(due(), first);
    await postDigest(due(), startProcess(taken));
    expect(posted).toHaveLength(times);
  });

  test('that a channel’s rate limit refused is tried again every ten minutes, and owners hear of it only after an hour', async () => {
    const { posted, startProcess, time } = await startWorkspace();
    let answer: PostedDigest = { kind: 'refused', reason: 'ratelimited' };
    const told: string[] = [];
    const made = startProcess(async () => answer);
    const notifyUndelivered = async (_id: string, _channel: string, reason: string) => {
      told.push(reason);
    };
    const reminderNotifier = { ...made.reminderNotifier, notifyUndelivered };
    const ports = { ...made, reminderNotifier };
    ports.jobs.handle({ [DIGEST]: createDigestHandler(ports, new AbortController().signal) });
    const postAfter = async (ms: number) => {
      time.now += ms;
      await ports.jobs.runDue();
      return posted.length;
    };
    expect(await postAfter(0)).toBe(1);
    expect(await postAfter(9 * MINUTE_MS)).toBe(1);
    expect(await postAfter(2 * MINUTE_MS)).toBe(2);
    expect(told).toEqual([]);
    expect(await postAfter(HOUR_MS)).toBe(3);
    expect(told).toEqual(['ratelimited']);
    answer = { kind: 'posted', card: { channelId: 'C1', ts: '1.1' } };
    expect(await postAfter(11 * MINUTE_MS)).toBe(4);
    expect(await postAfter(HOUR_MS)).toBe(4);
  });

  test('is asked for at a start for each workspace that has a channel, at once where its hour has come', async () => {
    const { store, startProcess, time } = await startWorkspace();
    for (let place = 0; place < 60; place++) {
      const id = `W${place}`;
      await store.workspaces.put({ id, name: id });
      const zone = place % 2 === 0 ? 'Europe/Berlin' : 'America/New_York';
      const settings = { ...DEFAULT_SETTINGS, digest: { ...digest, zone } };
      await store.workspaces.changeSettings(id, DEFAULT_SETTINGS, settings);
    }
    const ports = startProcess(taken);
    ports.jobs.handle({ [DIGEST]: async () => undefined });
    for (let rounds = 0; rounds < 2; rounds++) await ports.jobs.runDue();
    const run: string[] = [];
    ports.jobs.handle({ [DIGEST]: async ({ key }) => void run.push(key) });
    await askForDigests(ports);
    await ports.jobs.runDue();
    expect(run).toHaveLength(31);
    time.now += 8 * HOUR_MS;
    await ports.jobs.runDue();
    expect(new Set(run).size).toBe(61);
  });

  test('concludes nothing from an incomplete list, and says that it is one', async () => {
    const { posted, startProcess, due, time, account } = await startWorkspace();
    const ports = startProcess(taken);
    account.servers = [server(1, 9), server(2, 30), server(3, 30)];
    await postDigest(due(), ports);
    time.now += DAY_MS;
    account.servers = [server(1, 6)];
    account.isComplete = false;
    await postDigest(due(), ports);
    expect(posted[0]).toMatchObject({ isComplete: false, drift: { vanished: [], appeared: [] } });
    time.now += DAY_MS;
    account.isComplete = true;
    account.servers = [server(1, 6), server(2, 30)];
    await postDigest(due(), ports);
    expect(posted[1]).toMatchObject({ isComplete: true, drift: { vanished: [{ serverId: 3 }] } });
  });

  test('with nothing to report from an incomplete list says so, once until a list is complete again', async () => {
    const { posted, startProcess, due, time, account } = await startWorkspace();
    const ports = startProcess(taken);
    account.servers = [server(1, 30)];
    const days = [false, false, true, false];
    const counts: number[] = [];
    for (const isComplete of days) {
      account.isComplete = isComplete;
      await postDigest(due(), ports);
      counts.push(posted.length);
      time.now += DAY_MS;
    }
    expect(counts).toEqual([1, 1, 1, 2]);
    const [shown] = posted;
    const message = shown && digestMessage(shown, 'EUR');
    expect(message?.text).toBe('Daily digest for Mar 2: only part of the list of servers was received');
    expect(JSON.stringify(message?.blocks)).toContain('The hosting API returned only part of the list.');
    expect(JSON.stringify(message?.blocks)).toContain('Check the hosting account for servers');
  });
});

describe('the hour of a digest', () => {
  const workspace = { workspaceId: 'T1', digest };
  const dueDay = (at: string) => findDueDigest(workspace, Date.parse(at))?.day;

  test('is made up for until its day is over, and not after that', () => {
    expect(dueDay('2026-03-02T22:59:00Z')).toBe('2026-03-02');
    expect(dueDay('2026-03-02T23:01:00Z')).toBeUndefined();
  });
});
