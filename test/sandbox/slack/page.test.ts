import { describe, expect, it } from 'vitest';
import type { PageAction, PageResult, PageState } from '../../../src/sandbox/slack/page-api.ts';
import { USERS } from '../../../src/sandbox/slack/workspace.ts';
import { actions, button, modal, section, startBoth } from './support/fake-app.ts';

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

describe('the page API', () => {
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
    app.reply = () => ({ body: { response_action: 'push', view: modal([section('Top')]) } });
    await perform(both, { as: OWNER, do: 'submit', view });
    expect((await stateOf(both, OWNER)).views).toHaveLength(2);
    expect((await perform(both, { as: OWNER, do: 'submit', view })).done).toMatchObject({
      error: 'view_closed',
    });
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
});

it('a channel takes no more posts once it is archived, and says so', async () => {
  const { slack, app } = await startBoth({ app: { scopes: ['commands', 'chat:write', 'channels:read'] } });
  const viewer = slack.as('vera').in('#general');
  await viewer.types('/vps list');
  const url = app.last().response_url;
  slack.admin.archive('#general');
  const channel = 'C0GENERAL1';
  expect(await app.call('conversations.info', { channel })).toMatchObject({
    channel: { is_archived: true },
  });
  expect(await app.errorOf('chat.postMessage', { channel, text: 'x' })).toBe('is_archived');
  const user = USERS.vera.id;
  expect(await app.errorOf('chat.postEphemeral', { channel, user, text: 'x' })).toBe('is_archived');
  expect(await app.respond(url, { text: 'x' })).toMatchObject({ status: 410 });
  await expect(viewer.types('hello')).rejects.toMatchObject({ code: 'is_archived' });
  slack.admin.unarchive('#general');
  await viewer.types('hello');
});
