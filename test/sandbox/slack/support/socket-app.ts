import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { readOwnManifest } from '../../../../src/sandbox/slack/manifest.ts';
import type { Json } from '../../../../src/sandbox/slack/page-api.ts';
import { type SlackClock, type SlackOptions, wallClock } from '../../../../src/sandbox/slack/world.ts';
import { type LocalSlack, startSlack } from '../../../support/slack/local-slack.ts';

export const APP_TOKEN = 'xapp-token-of-the-fake-app';

/** One WebSocket of a tiny app. */
interface FakeSocket {
  readonly socket: WebSocket;
  /** Everything that Slack sent, oldest first. */
  readonly messages: Json[];
  readonly envelopes: () => readonly Json[];
  /** What is done with an envelope; by default it is acknowledged without a payload. */
  answer: (envelope: Json) => void;
  send(message: unknown): void;
}

/** A local Slack whose app uses Socket Mode. */
export async function startSocketSlack(
  app: Partial<SlackOptions['app']> = {},
  clock: SlackClock = wallClock,
): Promise<LocalSlack> {
  const slack = await startSlack({
    clock,
    app: {
      signingSecret: 'unused',
      botToken: 'xoxb-token-of-the-fake-app',
      appToken: APP_TOKEN,
      manifest: readOwnManifest('socket'),
      ...app,
    },
  });
  onTestFinished(() => slack.stop());
  return slack;
}

/** Calls `apps.connections.open`. */
export async function askForUrl(slack: LocalSlack, token = APP_TOKEN): Promise<Json> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${slack.apiUrl}apps.connections.open`, { method: 'POST', headers });
  return (await answer.json()) as Json;
}

/** Opens a WebSocket as an app does, and waits for the first message. */
export async function connect(slack: LocalSlack): Promise<FakeSocket> {
  const { url } = await askForUrl(slack);
  const socket = new WebSocket(String(url));
  onTestFinished(() => socket.terminate());
  const messages: Json[] = [];
  const fake: FakeSocket = {
    socket,
    messages,
    envelopes: () => messages.filter(({ envelope_id }) => envelope_id !== undefined),
    answer: ({ envelope_id }) => fake.send({ envelope_id }),
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
  };
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as Json;
    messages.push(message);
    if (message.envelope_id !== undefined) fake.answer(message);
  });
  await once(socket, 'message');
  return fake;
}
