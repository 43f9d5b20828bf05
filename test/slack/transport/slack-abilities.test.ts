import { describe, expect, it } from 'vitest';
import { createSlackAbilities } from '../../../src/slack/abilities.ts';
import type { SeenAnswer } from '../../../src/slack/slack-api.ts';
import { handClock } from '../support/hand-clock.ts';

const TRIED: readonly (readonly [string, SeenAnswer, string])[] = [
  ['a direct message', { method: 'chat.postMessage', channelId: 'U0OWNER001' }, 'direct_messages'],
  ['a message in a channel', { method: 'chat.postMessage', channelId: 'C0OPS00001' }, 'announcements'],
  ['an announcement by response_url', { method: 'response_url', isAnnouncement: true }, 'announcements'],
  ['users.info', { method: 'users.info' }, 'user_lookups'],
  ['usergroups.list', { method: 'usergroups.list' }, 'group_lookups'],
  ['conversations.info', { method: 'conversations.info', channelId: 'C0OPS00001' }, 'channel_lookups'],
];

/** Slack's answers in the order in which they were seen. */
function seenBy(...answers: readonly SeenAnswer[]) {
  const clock = handClock();
  const abilities = createSlackAbilities(clock.system);
  for (const answer of answers) abilities.watch('T1', answer);
  return { clock, read: () => abilities.read('T1'), readElsewhere: () => abilities.read('T2') };
}

const allUntried = {
  direct_messages: 'untried',
  announcements: 'untried',
  user_lookups: 'untried',
  group_lookups: 'untried',
  channel_lookups: 'untried',
};

describe('the app’s abilities in Slack', () => {
  it('are untried before Slack has answered anything', () => {
    expect(seenBy().read()).toEqual(allUntried);
  });

  it.each(TRIED)('name one as working after Slack accepts %s, and no other', (_name, answer, ability) => {
    const { read, readElsewhere } = seenBy(answer);
    expect(read()).toEqual({ ...allUntried, [ability]: 'works' });
    expect(readElsewhere()).toEqual(allUntried);
  });

  it.each([
    ['an answer for one user', { method: 'response_url', isAnnouncement: false }],
    ['a lookup of a direct message', { method: 'conversations.info', channelId: 'D0DIRECT01' }],
    ['an opened form', { method: 'views.open' }],
    ['a user whom Slack does not know', { method: 'users.info', error: 'user_not_found' }],
    [
      'a channel without the app',
      { method: 'chat.postMessage', channelId: 'C0OPS00001', error: 'not_in_channel' },
    ],
    ['a short outage', { method: 'usergroups.list', error: 'internal_error' }],
    ['a rate limit', { method: 'users.info', error: 'ratelimited' }],
  ])('are still untried after %s', (_name, answer) => {
    expect(seenBy(answer).read()).toEqual(allUntried);
  });

  it('name the missing scope of the manifest, and no other that would suffice', () => {
    const answer = { method: 'conversations.info', channelId: 'C0PRIVATE1', error: 'missing_scope' };
    const { channel_lookups: named } = seenBy({ ...answer, neededScope: 'groups:read,mpim:read' }).read();
    expect(named).toEqual({ code: 'missing_scope', scopes: ['groups:read'] });
    const { channel_lookups: unnamed } = seenBy(answer).read();
    expect(unnamed).toEqual({ code: 'missing_scope', scopes: ['channels:read', 'groups:read'] });
  });

  it('are forgotten an hour after Slack’s last answer', async () => {
    const { clock, read } = seenBy(
      { method: 'users.info' },
      { method: 'usergroups.list', error: 'missing_scope' },
    );
    await clock.pass(60 * 60_000 - 1);
    expect(read()).toMatchObject({ user_lookups: 'works', group_lookups: { code: 'missing_scope' } });
    await clock.pass(1);
    expect(read()).toEqual(allUntried);
  });

  it('work again once Slack accepts what it had refused', () => {
    const direct = { method: 'chat.postMessage', channelId: 'U0OWNER001' };
    const refused = seenBy({ ...direct, error: 'messages_tab_disabled' });
    expect(refused.read().direct_messages).toEqual({ code: 'messages_tab_disabled' });
    expect(seenBy({ ...direct, error: 'messages_tab_disabled' }, direct).read().direct_messages).toBe(
      'works',
    );
  });

  it('still lack a scope for one channel when another channel can be read', () => {
    const lookup = { method: 'conversations.info' };
    const hidden = { ...lookup, channelId: 'C0PRIVATE1', error: 'missing_scope', neededScope: 'groups:read' };
    const read = seenBy(hidden, { ...lookup, channelId: 'C0OPS00001' }).read();
    expect(read.channel_lookups).toEqual({ code: 'missing_scope', scopes: ['groups:read'] });
    expect(seenBy(hidden, { ...lookup, channelId: 'C0PRIVATE1' }).read().channel_lookups).toBe('works');
  });

  it('distinguish a refused token from a restriction by admins', () => {
    const seen = seenBy(
      { method: 'users.info', error: 'token_revoked' },
      { method: 'chat.postMessage', channelId: 'C0OPS00001', error: 'restricted_action' },
    ).read();
    expect(seen.user_lookups).toEqual({ code: 'token_refused', error: 'token_revoked' });
    expect(seen.announcements).toEqual({ code: 'restricted', error: 'restricted_action' });
  });
});
