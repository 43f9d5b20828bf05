import { describe, expect, it } from 'vitest';
import type { PageAction, PageResult, PageState } from '../../../src/sandbox/slack/page-api.ts';
import { actions, button, modal, plain, startBoth, textInput } from './support/fake-app.ts';

const OWNER = 'U0OWNER001';
const OPS = 'C0OPS00001';
type Both = Awaited<ReturnType<typeof startBoth>>;

async function perform({ slack }: Both, action: PageAction, headers: Record<string, string> = {}) {
  const answer = await fetch(`${slack.url}/page/do`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(action),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    done: (text.startsWith('{') ? JSON.parse(text) : { words: text }) as PageResult,
  };
}

async function stateOf({ slack }: Both, as: string): Promise<PageState> {
  const answer = await fetch(`${slack.url}/page/state?as=${as}`);
  return (await answer.json()) as PageState;
}

const opsOf = (state: PageState) => state.channels.find(({ id }) => id === OPS);

describe('the page API', () => {
  it('shows each user what that user can see', async () => {
    const both = await startBoth();
    both.app.reply = () => ({ body: 'only for you' });
    await perform(both, { as: OWNER, do: 'command', channel: OPS, text: '/vps help' });
    const mine = await stateOf(both, OWNER);
    expect(opsOf(mine)?.messages).toMatchObject([
      { text: 'only for you', ephemeral: true, user: 'U0VPSBOT01' },
    ]);
    expect(mine.commands).toMatchObject([{ command: '/vps' }]);
    expect(mine.traffic).toHaveLength(1);
    expect(opsOf(await stateOf(both, 'U0VIEWER01'))?.messages).toEqual([]);
    expect((await stateOf(both, 'U0STRANGER')).channels.map(({ name }) => name)).toEqual(['acme-shared']);
    expect((await fetch(`${both.slack.url}/page/state?as=U0NOONE`)).status).toBe(404);
  });

  it('fills, submits and closes modals', async () => {
    const both = await startBoth();
    const { app } = both;
    await perform(both, { as: OWNER, do: 'command', channel: OPS, text: '/vps create' });
    await app.call('views.open', { trigger_id: app.last().trigger_id, view: modal([textInput('Label')]) });
    const [view] = (await stateOf(both, OWNER)).views;
    if (!view) throw new Error('no modal is open');
    const refused = await perform(both, { as: OWNER, do: 'submit', view: view.id });
    expect(refused).toMatchObject({
      status: 200,
      done: { ok: false, error: 'invalid_input', errors: { Label: 'Please complete this required field.' } },
    });
    const place = { view: view.id };
    await perform(both, { as: OWNER, do: 'fill', place, block: 'Label', action: 'text', value: 'a' });
    expect((await stateOf(both, OWNER)).views[0]?.values.Label?.text).toEqual({
      type: 'plain_text_input',
      value: 'a',
    });
    const values = { Label: { text: 'web-1' } };
    expect((await perform(both, { as: OWNER, do: 'submit', view: view.id, values })).done).toEqual({
      ok: true,
    });
    expect(app.last()).toMatchObject({
      view: { state: { values: { Label: { text: { value: 'web-1' } } } } },
    });
    expect((await stateOf(both, OWNER)).views).toEqual([]);
    expect((await perform(both, { as: OWNER, do: 'close', view: view.id })).done).toMatchObject({
      error: 'view_closed',
    });
  });

  it('returns the confirmation dialog of a button to the page first', async () => {
    const both = await startBoth();
    const confirm = { text: plain('Really?') };
    const blocks = [actions(button('Stop', { confirm }))];
    const { ts } = await both.app.call('chat.postMessage', { channel: OPS, text: 'x', blocks });
    const place = { channel: OPS, ts: String(ts) };
    const action: PageAction = { as: OWNER, do: 'action', place, block: 'actions', action: 'press-Stop' };
    expect((await perform(both, action)).done).toMatchObject({ ok: false, error: 'confirm_needed', confirm });
    expect((await perform(both, { ...action, confirmed: true })).done).toEqual({ ok: true });
    expect(both.app.received).toHaveLength(1);
  });

  it("lets no one press in another user's ephemeral message or modal, nor submit a covered one", async () => {
    const both = await startBoth();
    const { app } = both;
    const blocks = [actions(button('Yes'))];
    const posted = await app.call('chat.postEphemeral', { channel: OPS, user: OWNER, text: 'x', blocks });
    const place = { channel: OPS, ts: String(posted.message_ts) };
    const action = { do: 'action', place, block: 'actions', action: 'press-Yes' } as const;
    expect((await perform(both, { ...action, as: 'U0VIEWER01' })).done).toMatchObject({
      error: 'message_not_found',
    });
    expect((await perform(both, { ...action, as: OWNER })).done).toEqual({ ok: true });
    await app.call('views.open', {
      trigger_id: app.last().trigger_id,
      view: modal([actions(button('More'))]),
    });
    const view = (await stateOf(both, OWNER)).views[0]?.id ?? '';
    const more = { do: 'action', place: { view }, block: 'actions', action: 'press-More' } as const;
    expect((await perform(both, { ...more, as: 'U0VIEWER01' })).done).toMatchObject({ error: 'view_closed' });
    await perform(both, { ...more, as: OWNER });
    await app.call('views.push', {
      trigger_id: app.last().trigger_id,
      view: modal([actions(button('Top'))]),
    });
    expect((await stateOf(both, OWNER)).views).toHaveLength(2);
    expect((await perform(both, { as: OWNER, do: 'submit', view })).done).toMatchObject({
      error: 'view_closed',
    });
  });

  it('streams to a user what that user may see', async () => {
    const both = await startBoth();
    const stream = await fetch(`${both.slack.url}/page/live?as=U0VIEWER01`);
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    await both.app.call('chat.postEphemeral', { channel: OPS, user: OWNER, text: 'secret' });
    await both.app.call('chat.postMessage', { channel: OPS, text: 'for all' });
    let heard = '';
    while (!heard.includes('for all')) heard += (await reader?.read())?.value ?? '';
    expect(heard).toContain('event: message\n');
    expect(heard.split('event: message\n')).toHaveLength(2);
    await reader?.cancel();
  });

  it('refuses other sites, other hosts, and unknown actions', async () => {
    const both = await startBoth();
    const action: PageAction = { as: OWNER, do: 'reload' };
    expect((await perform(both, action, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await perform(both, action, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await perform(both, action, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await perform(both, action, { origin: both.slack.url })).status).toBe(200);
    expect((await perform(both, { ...action, do: 'fly' } as never)).status).toBe(400);
    expect((await perform(both, { ...action, as: 'U0VPSBOT01' })).status).toBe(400);
  });

  it('leaves all other paths to the files of the page', async () => {
    const both = await startBoth({ pages: (_incoming, outgoing) => outgoing.end('the page') });
    expect(await (await fetch(`${both.slack.url}/index.html`)).text()).toBe('the page');
    const without = await startBoth();
    expect((await fetch(`${without.slack.url}/index.html`)).status).toBe(404);
  });
});
