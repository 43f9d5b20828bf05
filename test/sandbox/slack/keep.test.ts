import { describe, expect, it } from 'vitest';
import { slackSnapshotSchema } from '../../../src/sandbox/slack/messages.ts';
import { makeHandClock } from '../../../src/sandbox/slack/world.ts';
import type { LocalSlack } from '../../support/slack/local-slack.ts';
import { actions, button, type FakeApp, startBoth } from './support/fake-app.ts';

const OPS = 'C0OPS00001';
const OWNER = 'U0OWNER001';

/** The same workspace in a later process, by way of its file. */
const restart = (slack: LocalSlack, options: Parameters<typeof startBoth>[0] = {}) =>
  startBoth({ ...options, stored: slackSnapshotSchema.parse(JSON.parse(JSON.stringify(slack.snapshot()))) });

const post = (app: FakeApp, text: string, blocks: readonly unknown[] = []) =>
  app.call('chat.postMessage', { channel: OPS, text, ...(blocks.length > 0 ? { blocks } : {}) });

describe('after a restart', () => {
  it('channels and conversations hold their public messages, in the same order', async () => {
    const { slack, app } = await startBoth();
    await slack.as('olga').types('hello *all*');
    const { ts } = await post(app, 'one');
    await post(app, 'two');
    await app.call('chat.update', { channel: OPS, ts, text: 'one, changed' });
    await slack.as('vera').in('dm').types('only the app reads this');
    const later = await restart(slack);
    for (const place of ['#ops', 'dm'] as const) {
      const seen = slack.as('vera').in(place).messages();
      expect(later.slack.as('vera').in(place).messages()).toEqual(seen);
    }
    expect(later.slack.as('vera').screen()).toContain('one, changed');
    await post(later.app, 'three');
    expect(later.slack.as('vera').messages().at(-1)?.text).toBe('three');
  });

  it('buttons of stored messages still work, and the app can edit its messages', async () => {
    const { slack, app } = await startBoth();
    const { ts } = await post(app, 'Sure?', [actions(button('Yes', { value: '7' }))]);
    const later = await restart(slack);
    await later.slack.as('olga').presses('Yes');
    expect(later.app.last()).toMatchObject({ actions: [{ value: '7' }], message: { ts } });
    await later.app.respond(later.app.last().response_url, { text: 'Done', replace_original: true });
    await later.slack.as('vera').sees('Done');
  });

  it('ephemeral messages are not stored in any form', async () => {
    const { slack, app } = await startBoth();
    const secret = 'Xk9-root-password';
    await slack.as('olga').types('/vps create');
    await app.respond(app.last().response_url, { text: secret });
    await app.call('chat.postEphemeral', { channel: OPS, user: OWNER, text: secret });
    await slack.as('olga').sees(secret);
    expect(JSON.stringify(slack.snapshot())).not.toContain(secret);
    const later = await restart(slack);
    later.slack.as('olga').doesNotSee(secret);
  });

  it('a response_url goes on where it was: five uses in all, half an hour in all', async () => {
    const clock = makeHandClock();
    const { slack, app } = await startBoth({ clock });
    await slack.as('olga').types('/vps create');
    const path = new URL(String(app.last().response_url)).pathname;
    for (const text of ['1', '2', '3']) await app.respond(`${slack.url}${path}`, { text });
    const later = await restart(slack, { clock });
    const again = (text: string) => later.app.respond(`${later.slack.url}${path}`, { text });
    expect((await again('4')).status).toBe(200);
    await later.slack.as('olga').sees('4');
    clock.advance(31 * 60_000);
    expect(await again('5')).toMatchObject({ status: 404, body: 'expired_url' });
  });

  it('what was read stays read, and what was not is still unread', async () => {
    const { slack, app } = await startBoth();
    const { ts } = await post(app, 'one');
    await post(app, 'two');
    const readOf = async (one: LocalSlack) => {
      const state = (await (await fetch(`${one.url}/page/state?as=${OWNER}`)).json()) as {
        channels: { id: string; readUpTo: string }[];
      };
      return state.channels.find(({ id }) => id === OPS)?.readUpTo;
    };
    const tell = (upTo: unknown) =>
      fetch(`${slack.url}/page/do`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ as: OWNER, do: 'read', channel: OPS, ts: upTo }),
      });
    expect(await readOf(slack)).toBe('');
    await tell(ts);
    await tell('0.1');
    await tell('nonsense');
    expect(await readOf((await restart(slack)).slack)).toBe(ts);
  });

  it('only the newest of very many messages are there', async () => {
    const { slack } = await startBoth();
    const owner = slack.as('olga');
    for (let count = 1; count <= 2005; count += 1) await owner.types(`message ${count}`);
    const stored = (await restart(slack)).slack.as('olga').messages();
    expect(stored).toHaveLength(2000);
    expect(stored[0]?.text).toBe('message 6');
  });
});
