import { describe, expect, it } from 'vitest';
import { makeHandClock } from '../../../src/sandbox/slack/world.ts';
import { startBoth } from './support/fake-app.ts';

const SCOPES = ['commands', 'chat:write', 'users:read', 'usergroups:read'];

async function start() {
  const clock = makeHandClock();
  const { slack, app } = await startBoth({ clock, app: { scopes: SCOPES } });
  const post = (channel: string) => app.call('chat.postMessage', { channel, text: 'hello' });
  return { slack, app, clock, post };
}

describe('what Slack takes in a minute', () => {
  it('is one message a second in each channel', async () => {
    const { clock, post, slack } = await start();
    expect(await post('C0OPS00001')).toMatchObject({ ok: true });
    expect(await post('C0OPS00001')).toMatchObject({ http_status: 429, error: 'ratelimited' });
    expect(await post('C0GENERAL1')).toMatchObject({ ok: true });
    clock.advance(1000);
    expect(await post('C0OPS00001')).toMatchObject({ ok: true });
    expect(slack.as('olga').messages()).toHaveLength(2);
  });

  it('counts a message to a user as one in their conversation with the app', async () => {
    const { post, slack } = await start();
    const { id } = slack.as('olga');
    expect(await post(id)).toMatchObject({ ok: true });
    expect(await post(`D${id.slice(1)}`)).toMatchObject({ error: 'ratelimited' });
  });

  it.each([
    ['usergroups.list', 20, {}],
    ['users.info', 100, { user: 'U0OWNER001' }],
  ])('is of %s, by its tier, %i calls, and more when the first is a minute old', async (method, most, args) => {
    const { app, clock } = await start();
    const call = () => app.call(method, args);
    for (let count = 0; count < most; count += 1) expect(await call()).toMatchObject({ ok: true });
    clock.advance(45_000);
    expect(await call()).toMatchObject({ http_status: 429, error: 'ratelimited' });
    clock.advance(15_000);
    expect(await call()).toMatchObject({ ok: true });
  });

  it('is answered with the seconds to wait', async () => {
    const { slack, clock, post } = await start();
    await post('C0OPS00001');
    clock.advance(200);
    const answer = await fetch(`${slack.apiUrl}chat.postMessage`, {
      method: 'POST',
      headers: { authorization: 'Bearer any' },
      body: new URLSearchParams({ channel: 'C0OPS00001', text: 'x' }),
    });
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('1');
  });
});
