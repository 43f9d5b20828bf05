import { describe, expect, it } from 'vitest';
import type { Json, PageAction, PageResult, PageState } from '../../../src/sandbox/slack/page-api.ts';
import { USERS } from '../../../src/sandbox/slack/workspace.ts';
import { actions, button, type FakeApp, modal, section, startBoth } from './support/fake-app.ts';

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

const SCOPES = ['commands', 'chat:write', 'users:read', 'usergroups:read', 'channels:read'];
const ONCALL = 'S0ONCALL01';
const RANDOM = 'C0RANDOM01';

const start = () => startBoth({ app: { scopes: SCOPES } });
const userOf = async (app: FakeApp, id: string) => (await app.call('users.info', { user: id })).user as Json;

describe('a user group', () => {
  it('is listed with its members only on request', async () => {
    const { app } = await start();
    const [oncall, platform] = (await app.call('usergroups.list', {})).usergroups as Json[];
    expect(oncall).toMatchObject({ id: ONCALL, handle: 'oncall', date_delete: 0 });
    expect(platform).toMatchObject({ id: 'S0PLATFORM', handle: 'platform' });
    expect(oncall).not.toHaveProperty('users');
    expect(await app.call('usergroups.list', { include_users: 'true' })).toMatchObject({
      usergroups: [{ users: [USERS.otto.id, USERS.nora.id] }, {}],
    });
  });
});

it('a deactivated user is out of all groups and channels, and reported as deleted without any standing', async () => {
  const { slack, app } = await start();
  slack.admin.deactivate('otto');
  expect(await app.call('usergroups.list', { include_users: true })).toMatchObject({
    usergroups: [{ users: [USERS.nora.id] }, {}],
  });
  expect((await app.call('conversations.members', { channel: RANDOM })).members).not.toContain(USERS.otto.id);
  const user = await userOf(app, USERS.otto.id);
  expect(user.deleted).toBe(true);
  expect(user).not.toHaveProperty('is_admin');
  expect((await userOf(app, USERS.finn.id)).deleted).toBe(true);
});

describe('a channel', () => {
  it('takes no more posts once it is archived, and says so', async () => {
    const { slack, app } = await start();
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
});
