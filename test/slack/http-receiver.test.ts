import { createHmac } from 'node:crypto';
import type { App } from '@slack/bolt';
import { describe, expect, it, test } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { createHttpReceiver } from '../../src/slack/http-receiver.ts';
import { actorOf, readTypedMessage, submissionPayload } from '../../src/slack/payloads.ts';
import { createSlackClock } from '../../src/slack/slack-api.ts';
import { realSystem } from '../../src/system.ts';
import { startCpuTimer } from '../support/clocks.ts';
import {
  EVENT_SAMPLES,
  OURS,
  SENDERS,
  type Sender,
  submissionSample,
  THEIRS,
} from '../support/payloads/samples.ts';
import { startWebServer } from '../web/support.ts';

const SECRET = 'the signing secret of these tests';
const KIB = 1024;
const LONGEST = 512 * KIB;

const makeReceiver = (log: Log) =>
  createHttpReceiver({ signingSecret: new Secret(SECRET), log, clock: createSlackClock(realSystem) });

/** The app's server, in which every signed request is acknowledged, unless told otherwise. */
async function startReceiver(
  log = silentLog,
  processEvent = async ({ ack }: { ack(): Promise<void> }) => ack(),
) {
  const { connect, listener } = makeReceiver(log);
  connect({ processEvent } as unknown as App);
  return startWebServer({ slack: listener });
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

async function post({ port }: Receiver, body: string, headers: Readonly<Record<string, string>> = {}) {
  return (await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', headers, body })).status;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** A command of that length, or just what is given. */
async function sendSigned(receiver: Receiver, given: number | string): Promise<number> {
  const body = typeof given === 'string' ? given : `command=%2Fvps&team_id=T1&text=${'a'.repeat(given)}`;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', SECRET).update(`v0:${timestamp}:${body}`).digest('hex');
  const headers = {
    ...FORM,
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${signature}`,
  };
  return post(receiver, body, headers);
}

/** The time on the processor, in milliseconds; of several runs, the best one counts. */
async function measureWork(work: () => Promise<unknown>): Promise<number> {
  const runs: number[] = [];
  for (let run = 0; run < 3; run++) {
    const readMs = startCpuTimer();
    await work();
    runs.push(readMs());
  }
  return Math.min(...runs);
}

/** Sending a MiB takes most of it; to read it as a form, as Bolt and the app did, took hundreds. */
const MOST_WORK_MS = 100;

describe('the body of a request whose signature isn’t checked yet', () => {
  test('is not parsed as a form, which would take long for a large one', async () => {
    const app = await startReceiver();
    const body = `payload=${'+'.repeat(LONGEST - 100)}`;
    const send = () => post(app, body, FORM);
    expect(await send()).toBe(401);
    expect(await measureWork(send)).toBeLessThan(MOST_WORK_MS);
  });

  test('is answered once it is complete, whatever it contains', async () => {
    const app = await startReceiver();
    const answers = [
      await sendSigned(app, 400 * KIB),
      await post(app, 'x'.repeat(100 * KIB)),
      await sendSigned(app, 'payload=null'),
      await post(app, 'null'),
      await post(app, 'x'.repeat(LONGEST + 1)),
      await sendSigned(app, LONGEST),
    ];
    expect(answers).toEqual([200, 401, 400, 401, 413, 413]);
  });

  test('is read unchanged, however it is split into packets', async () => {
    const app = await startReceiver();
    const text = 'ä€😀'.repeat(3000);
    expect(await sendSigned(app, `command=%2Fvps&team_id=T1&text=${text}`)).toBe(200);
  });
});

test('a request whose dispatch fails before its ack is answered at once, and its failure is logged', async () => {
  const errors: string[] = [];
  const log = { ...silentLog, error: (words: string) => void errors.push(words) };
  const app = await startReceiver(log, async () => {
    throw new Error('a defect');
  });
  expect(await sendSigned(app, 0)).toBe(500);
  expect(errors).toEqual(['a request from Slack could not be dispatched']);
});

it('a view without the team that the app is installed in belongs to the team that Slack names otherwise', () => {
  const [sender] = Object.values(SENDERS);
  if (!sender) throw new Error('there are no samples');
  const payload = submissionPayload.parse(submissionSample(sender));
  for (const app_installed_team_id of [null, undefined]) {
    const view = { ...payload.view, app_installed_team_id };
    expect(actorOf({ ...payload, view }).workspaceId).toBe(OURS);
  }
});

const MEMBER: Sender = SENDERS['a member of a plain workspace'];

const mention = (change: object = {}, envelope: object = {}) => {
  const sample = EVENT_SAMPLES.app_mention(MEMBER);
  return readTypedMessage({ ...sample, ...envelope, event: { ...Object(sample.event), ...change } });
};

describe('a message that a user wrote to the app', () => {
  it.each([
    { user_team: THEIRS },
    { source_team: THEIRS },
    { user_profile: { team: THEIRS } },
  ])('comes from another organization if any field says so: %j', (more) => {
    const homes = { user_team: OURS, source_team: OURS, ...more };
    expect(mention(homes)?.actor.homeTeamId).toBe(THEIRS);
  });

  it('leaves its user’s home team to be looked up if no field names it and the channel may be shared', () => {
    const unknown = { user_team: undefined, source_team: undefined };
    expect(mention(unknown, { is_ext_shared_channel: true })?.actor.homeTeamId).toBe('');
    expect(mention(unknown, { is_ext_shared_channel: undefined })?.actor.homeTeamId).toBe('');
    expect(mention(unknown, { is_ext_shared_channel: false })?.actor.homeTeamId).toBeUndefined();
  });
});
