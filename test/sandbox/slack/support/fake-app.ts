import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Json } from '../../../../src/sandbox/slack/page-api.ts';
import { makeHandClock, type SlackOptions } from '../../../../src/sandbox/slack/world.ts';
import { type LocalSlack, startSlack } from '../../../support/slack/local-slack.ts';
import { option, plain, section } from './block-samples.ts';

const SECRET = 'signing-secret-of-the-fake-app';

export const TOKEN = 'xoxb-token-of-the-fake-app';

/** What the local Slack sent to the app. */
interface Received {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The form's fields, or the interaction's payload, or the event's envelope. */
  readonly content: Json;
  readonly kind: string;
}

export interface Reply {
  readonly status?: number;
  readonly body?: string | Json;
  /** Leaves Slack without an answer. */
  readonly isSilent?: boolean;
}

export interface FakeApp {
  readonly received: Received[];
  /** How the app answers; set by each test. */
  reply: (received: Received) => Reply | Promise<Reply>;
  /** Calls the Web API with the app's token. */
  call(method: string, args: Json, token?: string): Promise<Json>;
  /** The error that a call is refused with; undefined for none. */
  errorOf(method: string, args: Json, token?: string): Promise<unknown>;
  /** Posts to a response_url; gives the status and the body. */
  respond(url: unknown, message: Json): Promise<{ status: number; body: string }>;
  last(): Json;
  stop(): Promise<void>;
}

/** The names of the rules that the app broke, in order. */
export const brokenRules = (slack: LocalSlack) => slack.brokenRules().map(({ rule }) => rule);

/** Starts a local Slack and a tiny app that it talks to; both are stopped after the test. */
export async function startBoth(
  options: Omit<Partial<SlackOptions>, 'app'> & { app?: Partial<SlackOptions['app']> } = {},
): Promise<{ slack: LocalSlack; app: FakeApp }> {
  const slack = await startSlack({
    ...options,
    app: { signingSecret: SECRET, botToken: TOKEN, scopes: ['commands', 'chat:write'], ...options.app },
  });
  onTestFinished(() => slack.stop());
  const app = await startApp(slack);
  return { slack, app };
}

async function startApp(slack: LocalSlack): Promise<FakeApp> {
  const received: Received[] = [];
  const app: FakeApp = {
    received,
    reply: () => ({}),
    call: (method, args, token = TOKEN) => callApi(slack, method, args, token),
    errorOf: async (...call) => (await app.call(...call)).error,
    respond: async (url, message) => {
      const answer = await fetch(String(url), { method: 'POST', body: JSON.stringify(message) });
      return { status: answer.status, body: await answer.text() };
    },
    last: () => received.at(-1)?.content ?? {},
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk as Uint8Array));
    const request = read(incoming.headers, Buffer.concat(chunks).toString());
    received.push(request);
    const { status = 200, body = '', isSilent } = await app.reply(request);
    if (isSilent) return;
    outgoing.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  slack.app.commandsUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`;
  onTestFinished(() => app.stop());
  return app;
}

function read(headers: Received['headers'], body: string): Received {
  if (headers['content-type'] === 'application/json') {
    const content = JSON.parse(body) as Json;
    return { headers, body, content, kind: 'event' };
  }
  const fields = Object.fromEntries(new URLSearchParams(body));
  const content = fields.payload ? (JSON.parse(fields.payload) as Json) : fields;
  return { headers, body, content, kind: fields.payload ? String(content.type) : 'command' };
}

async function callApi(slack: LocalSlack, method: string, args: Json, token: string): Promise<Json> {
  const answer = await fetch(`${slack.apiUrl}${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(args),
  });
  return { ...((await answer.json()) as Json), http_status: answer.status };
}

export { option, plain, section };

export const button = (text: string, more: Json = {}) => ({
  type: 'button',
  action_id: `press-${text}`,
  text: plain(text),
  ...more,
});

export const actions = (...elements: Json[]) => ({ type: 'actions', block_id: 'actions', elements });

export const modal = (blocks: readonly unknown[], more: Json = {}): Json => ({
  type: 'modal',
  callback_id: 'form',
  title: plain('A form'),
  submit: plain('Send'),
  blocks,
  ...more,
});

export const input = (label: string, element: Json, more: Json = {}) => ({
  type: 'input',
  block_id: label,
  label: plain(label),
  element: { action_id: 'it', ...element },
  ...more,
});

export const textInput = (label: string, more: Json = {}, element: Json = {}) =>
  input(label, { type: 'plain_text_input', ...element }, more);

/** A user who ran a command, and the trigger of it. */
export async function afterCommand() {
  const clock = makeHandClock();
  const started = await startBoth({ clock });
  const owner = started.slack.as('olga');
  await owner.types('/vps create');
  const trigger = started.app.last().trigger_id;
  const open = (view: Json) => started.app.call('views.open', { trigger_id: trigger, view });
  return {
    ...started,
    clock,
    owner,
    url: started.app.last().response_url,
    open,
    brokenRules: () => brokenRules(started.slack),
  };
}
