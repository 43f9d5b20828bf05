import type { HomeView } from '@slack/types';
import { describe, expect, test } from 'vitest';
import type { Homes, OpenedHome } from '../../src/home/homes.ts';
import { silentLog } from '../../src/log.ts';
import { createHomePublisher } from '../../src/slack/home-publisher.ts';
import { actions, section } from '../../src/slack/kit/blocks.ts';
import type { LoadHome } from '../../src/slack/kit/views.ts';
import type { SlackRequest } from '../../src/slack/request.ts';
import type { SlackAnswer } from '../../src/slack/slack-api.ts';
import { clientsOf, fakeRequest, gate, handClock, turn } from './support/fakes.ts';

const BUTTON = {
  type: 'button',
  action_id: 'home_refresh',
  text: { type: 'plain_text', text: 'Refresh' },
} as const;

const refused = (error: string, retryAfterMs?: number) => ({ ok: false, error, retryAfterMs }) as const;
const limited = (seconds: number) => refused('ratelimited', seconds * 1000);

/** A publisher over a Slack that gives these answers, and takes everything after them. */
function startPublisher(...answers: SlackAnswer[]) {
  const clock = handClock();
  const published: { user: string; view: HomeView; words: string }[] = [];
  const stored = new Map<string, OpenedHome>();
  const state = { content: 'web-1 is running', load: undefined as LoadHome | undefined };
  const homes: Homes = {
    find: async (_workspaceId, userId) => stored.get(userId),
    put: async (_workspaceId, userId, opened) => void stored.set(userId, opened),
  };
  const load: LoadHome = async (home, request) => {
    if (state.load) return state.load(home, request);
    const { page, isWelcome } = home;
    const words = `${isWelcome ? 'Welcome! ' : ''}${state.content}, page ${page}`;
    return { blocks: [section(words), actions(BUTTON)], page };
  };
  const slack = clientsOf({
    publishView: async (user, view) => {
      const answer = answers.shift() ?? { ok: true };
      if (answer.ok) published.push({ user, view, words: JSON.stringify(view.blocks) });
      return answer;
    },
  });
  const requestOf = (userId: string): SlackRequest => ({
    ...fakeRequest(),
    caller: { actor: { workspaceId: 'T1', userId, channelId: `D${userId}` }, surface: 'home' },
  });
  const publisher = createHomePublisher({
    ...{ clients: slack, system: clock.system, log: silentLog, homes, load },
    requestFor: (_workspaceId, userId) => requestOf(userId),
  });
  const last = () => published.at(-1)?.words ?? '';
  return { ...clock, publisher, published, stored, state, requestOf, last };
}

describe('Home while Slack rate-limits it', () => {
  test('is published once Slack accepts it again, with the state at that time', async () => {
    const { publisher, requestOf, published, state, stored, pass, last } = startPublisher(limited(30));
    await publisher.open(requestOf('U1'));
    expect(published).toEqual([]);
    state.content = 'web-1 is stopped';
    await pass(29_000);
    expect(published).toEqual([]);
    await pass(1000);
    expect(published).toHaveLength(1);
    expect(last()).toContain('Welcome! web-1 is stopped');
    expect(stored.get('U1')).toMatchObject({ channelId: 'DU1', page: 0 });
  });
});

describe('Home that Slack refuses', () => {
  test('is published as plain text', async () => {
    const { publisher, requestOf, published, stored, last } = startPublisher(refused('invalid_blocks'));
    await publisher.open(requestOf('U1'));
    expect(published).toHaveLength(1);
    expect(last()).toContain('web-1 is running');
    expect(published[0]?.view.blocks.map(({ type }) => type)).toEqual(['section']);
    expect(stored.has('U1')).toBe(true);
  });

  test.each(['not_enabled', 'TimeoutError'])('for another reason is not sent again: %s', async (error) => {
    const { publisher, requestOf, published, stored, sleeping } = startPublisher(refused(error));
    await publisher.open(requestOf('U1'));
    await turn();
    expect([published, stored.size, sleeping()]).toEqual([[], 0, 0]);
  });
});

describe('Home whose list is still being read', () => {
  test.each([
    ['is shown again once the list is there', false, ['part', 'whole']],
    ['is left as it is if something newer was shown since', true, ['part', 'whole, page 3']],
  ])('%s', async (_words, isPressed, expected) => {
    const list = gate();
    const { publisher, requestOf, published, state } = startPublisher();
    state.load = async ({ isPatient, page }) => {
      if (isPatient) await list.pass();
      const isComing = !isPatient && page === 0;
      const words = `${isComing ? 'part' : 'whole'}${page > 0 ? `, page ${page}` : ''}`;
      return { blocks: [section(words)], page, isComing };
    };
    await publisher.open(requestOf('U1'));
    await list.reached;
    if (isPressed) await publisher.show(requestOf('U1'), { page: 3 });
    list.open();
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(published.map(({ view }) => view.blocks)).toMatchObject(
      expected.map((text) => [{ text: { text } }]),
    );
  });
});
