import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../../../../src/sandbox/slack/page-api.ts';
import type { LocalSlack } from '../../../support/slack/local-slack.ts';
import {
  deletedWords,
  everyBlock,
  LABEL_TAKEN,
  listMessage,
  type Message,
  passwordMessage,
  renamed,
  sheetMessage,
} from './fixture-messages.ts';
import { createForm, homeView, loadingForm, plans, reviewForm } from './fixture-views.ts';

export const TOKEN = 'xoxb-fixture';
export const SECRET = 'fixture-secret';

/** A small app with messages and modals like the product's own; it remembers what it was sent. */
export interface FixtureApp {
  readonly received: Json[];
  post(channel: string, message: Message): Promise<string>;
  call(method: string, args: Json): Promise<Json>;
  stop(): void;
}

type Answer = string | Json;

/** A form with this label in it makes the app fail. */
export const DOOMED = 'doomed';

const isDoomed = (content: Json) =>
  content.type === 'view_submission' && JSON.stringify(content.view).includes(`"value":"${DOOMED}"`);

/** Starts the app and tells the local Slack where it is. */
export async function startFixtureApp(slack: LocalSlack): Promise<FixtureApp> {
  const received: Json[] = [];
  const call = async (method: string, args: Json): Promise<Json> => {
    const answer = await fetch(`${slack.apiUrl}${method}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(args),
    });
    return (await answer.json()) as Json;
  };
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk as Uint8Array));
    const content = read(
      Buffer.concat(chunks).toString(),
      incoming.headers['content-type'] === 'application/json',
    );
    received.push(content);
    const body = answerTo(content, call);
    outgoing.writeHead(isDoomed(content) ? 500 : 200, { 'content-type': 'application/json' });
    outgoing.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  slack.app.commandsUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`;
  return {
    received,
    call,
    post: async (channel, message) => String((await call('chat.postMessage', { channel, ...message })).ts),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function read(body: string, isJson: boolean): Json {
  if (isJson) return JSON.parse(body) as Json;
  const fields = Object.fromEntries(new URLSearchParams(body));
  return fields.payload ? (JSON.parse(fields.payload) as Json) : { type: 'command', ...fields };
}

function answerTo(content: Json, call: (method: string, args: Json) => Promise<Json>): Answer {
  switch (content.type) {
    case 'command':
      return answerCommand(content, call);
    case 'block_suggestion':
      return { options: plans(String(content.value)) };
    case 'view_submission':
      return answerSubmission(content);
    case 'block_actions':
      void respond(content, (content.actions as Json[])[0] ?? {});
      return '';
    case 'event_callback':
      void call('views.publish', { user_id: String((content.event as Json).user), view: homeView() });
      return '';
    default:
      return '';
  }
}

/** Slack takes no tables and no rich text in the ack of a command. */
const AFTER_THE_ACK: Readonly<Record<string, () => Message>> = {
  list: () => listMessage(34),
  password: passwordMessage,
  everything: everyBlock,
};

function answerCommand(content: Json, call: (method: string, args: Json) => Promise<Json>): Answer {
  const [word] = String(content.text).split(' ');
  if (word === 'show') return { ...sheetMessage('web-1') };
  const message = AFTER_THE_ACK[word ?? ''];
  if (message) {
    void post(content, { ...message() });
    return '';
  }
  if (word === 'create') {
    void openForm(content, call);
    return '';
  }
  return `Hello <@${String(content.user_id)}>, you typed \`${String(content.text)}\`.`;
}

async function openForm(content: Json, call: (method: string, args: Json) => Promise<Json>): Promise<void> {
  const opened = await call('views.open', { trigger_id: content.trigger_id, view: loadingForm() });
  await call('views.update', { view_id: (opened.view as Json).id, view: createForm() });
}

function answerSubmission(content: Json): Answer {
  const view = content.view as {
    state: { values: Record<string, Record<string, Json>> };
    callback_id: string;
  };
  if (view.callback_id === 'review') return '';
  const values = view.state.values;
  const label = String(values.label?.text?.value);
  if (label === 'web-1') return { response_action: 'errors', errors: { label: LABEL_TAKEN } };
  return { response_action: 'push', view: reviewForm(label) };
}

async function respond(content: Json, action: Json): Promise<void> {
  const messages: Readonly<Record<string, Json>> = {
    stop: { replace_original: true, ...renamed('web-1', 'stopped') },
    reboot: { response_type: 'in_channel', replace_original: false, text: deletedWords },
    saved: { delete_original: true },
  };
  const message = messages[String(action.action_id)];
  if (message) await post(content, message);
}

async function post(content: Json, message: Json): Promise<void> {
  await fetch(String(content.response_url), { method: 'POST', body: JSON.stringify(message) });
}
