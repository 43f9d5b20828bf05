import type { Json } from '../../../../src/sandbox/slack/page-api.ts';
import {
  actions,
  button,
  type FakeApp,
  input,
  modal,
  option,
  plain,
  section,
} from '../../slack/support/fake-app.ts';

/** Makes a tiny app reply with messages and modals like the product's own. */
export function replyLikeTheProduct(app: FakeApp): void {
  app.reply = ({ kind, content }) => {
    if (kind === 'block_suggestion') return { body: { options: plansLike(String(content.value)) } };
    if (kind === 'view_submission') return replyToForm(content.view as FormView);
    if (kind === 'command') return replyToCommand(app, content);
    const [action] = (content.actions ?? []) as Json[];
    if (action?.action_id === 'press-Stop')
      void app.respond(content.response_url, { replace_original: true, ...makeServer('stopped') });
    if (kind === 'event')
      void app.call('views.publish', { user_id: (content.event as Json).user, view: HOME });
    return {};
  };
}

function replyToCommand(app: FakeApp, { text, user_id, response_url, trigger_id }: Json) {
  if (text === 'show web-1') return { body: makeServer('running') };
  if (text === 'create') void openForm(app, trigger_id);
  // Slack takes no tables in the ack of a command.
  else if (text === 'list') void app.respond(response_url, makeList(34));
  else return { body: `Hello <@${String(user_id)}>, you typed \`${String(text)}\`.` };
  return {};
}

function makeServer(state: string): Json {
  const confirm = {
    title: plain('Stop the server?'),
    text: plain('web-1 will be switched off. It stays paid.'),
    confirm: plain('Stop'),
    deny: plain('Cancel'),
    style: 'danger',
  };
  const blocks = [section(`web-1 is ${state}`), actions(button('Start'), button('Stop', { confirm }))];
  return { text: `web-1: ${state}`, blocks };
}

/** A table of servers as the product lists them. */
function makeList(count: number): Json {
  const row = (...texts: string[]) => texts.map((text) => ({ type: 'raw_text', text }));
  const rows = Array.from({ length: count }, (_, at) =>
    row(`staging-${at + 1}`, 'rebooting', `203.0.113.${at + 10}`, '2026-12-21'),
  );
  const head = row('Label', 'State', 'IPv4', 'Paid until');
  const table = { type: 'data_table', caption: 'Servers', page_size: 10, rows: [head, ...rows] };
  return { text: `${count} servers`, blocks: [section(`*${count} servers*`), table] };
}

const HOME = { type: 'home', blocks: [{ type: 'header', text: plain('Your servers') }] };

/** Options of an external select that fit what was typed. */
function plansLike(typed: string): readonly Json[] {
  return ['small · 4.90 a month', 'medium · 9.90 a month', 'large · 19.90 a month']
    .filter((plan) => plan.includes(typed.toLowerCase()))
    .map((plan) => option(plan));
}

/** A view that is loading, and the form that follows it. */
async function openForm(app: FakeApp, trigger_id: unknown): Promise<void> {
  const titled = { title: plain('Create a server') };
  const loading = modal([section('Reading the catalog…')], titled);
  const opened = await app.call('views.open', { trigger_id, view: loading });
  const plan = { type: 'external_select', min_query_length: 0, placeholder: plain('Choose a plan') };
  const location = {
    type: 'static_select',
    placeholder: plain('Choose a location'),
    options: ['fra · Frankfurt', 'ams · Amsterdam', 'hel · Helsinki'].map((text) => option(text)),
  };
  const blocks = [
    section('Nothing is ordered yet: the *price* comes next.'),
    input('Plan', plan),
    input('Location', location),
    input('Label', { type: 'plain_text_input' }, { hint: plain('Its name here and in the account.') }),
  ];
  const form = modal(blocks, { ...titled, submit: plain('Review') });
  await app.call('views.update', { view_id: (opened.view as Json).id, view: form });
}

interface FormView {
  readonly state: { readonly values: Readonly<Record<string, Readonly<Record<string, Json>>>> };
}

function replyToForm({ state }: FormView) {
  const label = state.values.Label?.it?.value;
  const errors = { Label: 'There is a server with that label already' };
  if (label === 'web-1') return { body: { response_action: 'errors', errors } };
  const review = modal([section('*4.90* a month, now, from the account’s balance.')], {
    title: plain('Review and pay'),
    submit: plain('Create and pay'),
  });
  return { body: { response_action: 'push', view: review } };
}
