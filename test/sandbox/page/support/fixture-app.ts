import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../../../../src/sandbox/slack/page-api.ts';
import type { LocalSlack } from '../../../support/slack/local-slack.ts';

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

/** Options of an external select that fit what was typed. */
export function plans(typed: string): readonly Json[] {
  const all = [
    option('small · 4.90 a month', 'small', '1 vCPU, 2 GB RAM, 40 GB disk'),
    option('medium · 9.90 a month', 'medium', '2 vCPU, 4 GB RAM, 80 GB disk'),
    option('large · 19.90 a month', 'large', '4 vCPU, 8 GB RAM, 160 GB disk'),
  ];
  return all.filter((each) => JSON.stringify(each).toLowerCase().includes(typed.toLowerCase()));
}

const modal = (callbackId: string, title: string, blocks: readonly Json[], more: Json = {}): Json => ({
  type: 'modal',
  callback_id: callbackId,
  title: plain(title),
  close: plain('Cancel'),
  blocks,
  ...more,
});

const loadingForm = () => modal('loading', 'Create a server', [section('Reading the catalog…')]);

/** The form of choices. */
function createForm(): Json {
  const input = (id: string, label: string, element: Json, more: Json = {}): Json => ({
    type: 'input',
    block_id: id,
    label: plain(label),
    element,
    ...more,
  });
  const plan = {
    type: 'external_select',
    action_id: 'choice',
    min_query_length: 0,
    placeholder: plain('Choose a plan'),
  };
  const location = {
    type: 'static_select',
    action_id: 'choice',
    placeholder: plain('Choose a location'),
    options: ['fra · Frankfurt', 'ams · Amsterdam', 'hel · Helsinki'].map((text) =>
      option(text, text.slice(0, 3)),
    ),
  };
  const label = { type: 'plain_text_input', action_id: 'text', placeholder: plain('web-1'), max_length: 60 };
  const tags = {
    type: 'multi_static_select',
    action_id: 'choice',
    placeholder: plain('Choose tags'),
    options: ['production', 'staging', 'test'].map((text) => option(text, text)),
  };
  const blocks = [
    section('Nothing is ordered yet: the *price* comes next.'),
    input('plan', 'Plan', plan),
    input('location', 'Location', location),
    input('label', 'Label', label, { hint: plain('Its name here and in the account.') }),
    input('tags', 'Tags', tags, { optional: true }),
  ];
  return modal('create', 'Create a server', blocks, { submit: plain('Review') });
}

/** The review with the price. */
function reviewForm(label: string): Json {
  const facts = { type: 'section', fields: [mrkdwn(`*Label*\n\`${label}\``), mrkdwn('*Plan*\nsmall')] };
  const blocks = [
    section('*4.90* a month, now, from the account’s balance.'),
    facts,
    section('A paid month is not refunded.'),
  ];
  return modal('review', 'Review and pay', blocks, { submit: plain('Create and pay') });
}

const homeView = (): Json => ({
  type: 'home',
  blocks: [
    { type: 'header', text: plain('Your servers') },
    section('3 running, 1 stopped.'),
    ...everyBlock().blocks.slice(0, 3),
  ],
});

export interface Message {
  readonly text: string;
  readonly blocks?: readonly Json[];
}

const LABEL_TAKEN = 'There is a server with that label already';

const deletedWords = '<@U0OWNER001> rebooted `web-1`';

/** A table of servers as the product lists them. */
function listMessage(count: number): Message {
  const states = ['running', 'running', 'running', 'stopped', 'rebooting', 'expired'];
  const roles = ['web', 'db', 'worker', 'staging', 'build'];
  const cell = (text: string) => ({ type: 'raw_text', text });
  const labels = Array.from(
    { length: count },
    (_each, index) => `${roles[index % 5]}-${Math.floor(index / 5) + 1}`,
  );
  const rows = labels.map((label, index) => [
    cell(label),
    cell(states[index % 6] ?? 'running'),
    cell(`203.0.113.${index + 10}`),
    cell(`2026-${String(11 + (index % 2)).padStart(2, '0')}-${String((index % 27) + 1).padStart(2, '0')}`),
    cell(String(4100 + index * 7)),
  ]);
  const head = ['Label', 'State', 'IPv4', 'Paid until', 'Id'].map(cell);
  const menu = { type: 'static_select', action_id: 'manage', placeholder: plain('Manage a server') };
  return {
    text: `${count} servers`,
    blocks: [
      section(`*${count} servers*`),
      { type: 'data_table', caption: 'Servers', page_size: 10, rows: [head, ...rows] },
      {
        type: 'actions',
        elements: [
          { ...menu, options: labels.map((label) => option(label, label)) },
          button('Next', 'further'),
        ],
      },
    ],
  };
}

/** One server with its buttons. */
function sheetMessage(label: string, state = 'running'): Message {
  return {
    text: `${label}: ${state}`,
    blocks: [
      { type: 'header', text: plain(label) },
      {
        type: 'section',
        fields: [
          mrkdwn(`*State*\n${state}`),
          mrkdwn('*IPv4*\n`203.0.113.10`'),
          mrkdwn('*Id*\n4107'),
          mrkdwn(
            '*Paid until*\n<!date^1797811200^{date_short_pretty} {time}|2026-12-21 00:00 UTC> (30 days)',
          ),
        ],
      },
      {
        type: 'actions',
        block_id: 'server',
        elements: [
          button('Start', 'start'),
          button('Stop', 'stop', {
            confirm: confirm('Stop', 'web-1 will be switched off. It stays paid.'),
          }),
          button('Reboot', 'reboot', { confirm: confirm('Reboot', 'web-1 will be away for a moment.') }),
          button('Renew…', 'renew'),
          button('Delete…', 'delete', { style: 'danger' }),
        ],
      },
      context(
        '<!date^1791208800^{date_short_pretty} {time}|6 Oct> <@U0MANAGER1> create: settled\nMade here: plan small, fra, debian-13',
      ),
    ],
  };
}

export const renamed = (label: string, state: string): Message => sheetMessage(label, state);

/** The root password in a preformatted block. */
function passwordMessage(): Message {
  return {
    text: 'The root password of web-1',
    blocks: [
      section('*Root password*, shown to nobody but you:'),
      {
        type: 'rich_text',
        elements: [
          { type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'tr0ub4dor&<b>3</b>*horse*' }] },
        ],
      },
      context('Put it into your password store now: the hosting API never shows it again.'),
      { type: 'actions', elements: [button("I've saved it", 'saved', { style: 'primary' })] },
    ],
  };
}

/** Every block and element that the page draws, in one message. */
function everyBlock(): Message & { readonly blocks: readonly Json[] } {
  return {
    text: 'everything',
    blocks: [
      section(
        '*bold* _italic_ ~strike~ `code &lt;b&gt;` <@U0OPERATOR> <#C0OPS00001> <!here> <https://example.com|a link> :rocket: :no_such:\n> quoted\n```\nfenced  text\n```\n• a bullet',
      ),
      { type: 'divider' },
      {
        type: 'rich_text',
        elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'ls -l\n' }] }],
      },
      { type: 'image', image_url: 'https://example.com/x.png', alt_text: 'A graph of the load' },
      {
        type: 'actions',
        elements: [
          button('Primary', 'primary', { style: 'primary' }),
          { type: 'users_select', action_id: 'who', placeholder: plain('Somebody') },
        ],
      },
    ],
  };
}

export const plain = (text: string): Json => ({ type: 'plain_text', text, emoji: false });

export const mrkdwn = (text: string): Json => ({ type: 'mrkdwn', text, verbatim: true });

export const section = (text: string, more: Json = {}): Json => ({
  type: 'section',
  text: mrkdwn(text),
  ...more,
});

export const context = (text: string): Json => ({ type: 'context', elements: [mrkdwn(text)] });

export const button = (text: string, action: string, more: Json = {}): Json => ({
  type: 'button',
  action_id: action,
  text: plain(text),
  ...more,
});

export const option = (text: string, value: string, description?: string): Json => ({
  text: plain(text),
  value,
  ...(description ? { description: plain(description) } : {}),
});

export const confirm = (verb: string, text: string): Json => ({
  title: plain(`${verb} the server?`),
  text: plain(text),
  confirm: plain(verb),
  deny: plain('Cancel'),
  style: 'danger',
});
