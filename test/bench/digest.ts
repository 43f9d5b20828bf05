import { Secret } from '../../src/core/secret.ts';
import { DEFAULT_SETTINGS, DIGEST } from '../../src/core/settings.ts';
import { DAY_MS, MINUTE_MS } from '../../src/core/time.ts';
import { openStore } from '../../src/db/open-store.ts';
import { askForDigests, createDigestHandler, SPREAD_MS } from '../../src/reminders/digest.ts';
import { realSystem } from '../../src/system.ts';
import { vault } from '../db/fixtures.ts';
import { mostInAnyWindow } from '../hosting/support.ts';
import { makeContext, makeHosting } from '../support/context.ts';
import { atMost, type Figure, rounded } from './figures.ts';

// The question: a thousand workspaces want their digest at the same hour. How soon is it posted, how much work is that, and
// how many requests does the background send in the busiest minute? Its share of an account's budget is 100 a minute, so the
// worst case is that all of them have one account. The clock is moved by hand: only the work itself takes real time.
const WORKSPACES = 1000;
const SERVERS = 20;
const STEP_MS = 15_000;
const BACKGROUND_LIMIT = 100;
const EIGHT = Date.parse('2026-03-02T08:00:00Z');
const WANTED = { channelId: 'C1', hour: 9, zone: 'Europe/Berlin', daysBefore: [7, 3, 1] };

/** Posts the digests of a thousand workspaces on a store of SQLite. */
export async function measureDigests(): Promise<readonly Figure[]> {
  const time = { now: EIGHT - MINUTE_MS };
  const system = { ...realSystem, now: () => time.now, elapsed: () => time.now };
  const store = await openStore({ databaseUrl: 'sqlite::memory:', vault, system });
  for (let place = 0; place < WORKSPACES; place++) {
    const id = `T0${place.toString(36).toUpperCase().padStart(6, '0')}`;
    await store.workspaces.put({ id, name: id }, time.now);
    await store.workspaces.changeSettings(id, DEFAULT_SETTINGS, { ...DEFAULT_SETTINGS, digest: WANTED });
    await store.apiKeys.put(id, new Secret('key'), 'U1', time.now);
  }
  const servers = Array.from({ length: SERVERS }, (_, id) => ({
    id: id + 1,
    label: `web-${id}`,
    state: 'running',
    paidUntil: EIGHT + (id + 1) * DAY_MS,
  }));
  const reads: number[] = [];
  const hosting = makeHosting({
    fetchServers: async () => {
      reads.push(time.now);
      return { servers, extent: 'whole', unreadableCount: 0 };
    },
  });
  const posts: number[] = [];
  const ports = makeContext(store, { system, hostingOf: () => hosting });
  const post = async () => {
    posts.push(time.now);
    return { kind: 'posted' as const, card: { channelId: 'C1', ts: `1.${posts.length}` } };
  };
  const posting = { ...ports, reminderNotifier: { ...ports.reminderNotifier, post } };
  ports.jobs.handle({ [DIGEST]: createDigestHandler(posting, new AbortController().signal) });
  await askForDigests(posting);
  const idle = await timeOf(ports.jobs.runDue);
  let busyMs = 0;
  for (time.now = EIGHT; time.now <= EIGHT + SPREAD_MS + STEP_MS; time.now += STEP_MS)
    busyMs += await timeOf(ports.jobs.runDue);
  await store.close();
  const minutes = (Math.max(...posts) - EIGHT) / MINUTE_MS;
  return [
    {
      what: `${WORKSPACES} digests of one account, due at the same hour: posted`,
      measured: String(posts.length),
      aim: String(WORKSPACES),
      isMet: posts.length === WORKSPACES,
    },
    atMost('… the last one after the hour', minutes, SPREAD_MS / MINUTE_MS, 'min'),
    atMost('… requests in the busiest minute', mostInAnyWindow(reads), BACKGROUND_LIMIT, ''),
    {
      what: '… work for each, and for a look that finds none due',
      measured: `${rounded(busyMs / posts.length)} ms, ${rounded(idle)} ms`,
    },
  ];
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
