import { beforeEach, describe, expect, it } from 'vitest';
import {
  cacheLookups,
  createChannels,
  createGroups,
  createUsers,
  RateLimited,
} from '../../src/slack/directory.ts';
import type { SlackAnswer } from '../../src/slack/slack-api.ts';
import { MEMBER as PLAIN } from '../support/context.ts';
import { clientsOf, type HandClock, handClock } from './support/fakes.ts';

const MEMBER = { id: 'U1', team_id: 'T1', deleted: false, is_admin: false, is_restricted: false };

/** People of whom Slack says this, and how often it was asked. */
function peopleOf(answer: SlackAnswer<{ user: unknown }>) {
  const asked: string[] = [];
  const slack = clientsOf({
    findUser: async (userId) => {
      asked.push(userId);
      return answer;
    },
  });
  const clock = handClock();
  return { asked, clock, people: createUsers(slack, clock.system) };
}

const known = (user: unknown) => peopleOf({ ok: true, user });
const refused = (error: string) => peopleOf({ ok: false, error });

describe('a user', () => {
  it.each<[string, object, object]>([
    ['is a member', {}, {}],
    ['is an admin', { is_admin: true }, { isAdmin: true }],
    ['is an owner of the workspace', { is_owner: true }, { isAdmin: true }],
    ['is a guest', { is_restricted: true }, { isGuest: true }],
    ['is a guest of one channel', { is_ultra_restricted: true }, { isGuest: true }],
    ['is from another organization, and not a guest', { is_stranger: true }, { isStranger: true }],
    ['is from another team in a shared channel', { team_id: 'T2' }, { teamIds: ['T2'] }],
    ['is a bot', { is_bot: true }, { isBot: true }],
    ['is deactivated, without any other details from Slack', { deleted: true }, { isDeactivated: true }],
    [
      'is in several workspaces of an Enterprise Grid',
      { team_id: 'T2', enterprise_user: { id: 'W1', enterprise_id: 'E1', teams: ['T1', 'T2'] } },
      { teamIds: ['T2', 'T1'] },
    ],
    ['is from no Enterprise Grid', { enterprise_user: null }, {}],
    ['is from a team that Slack does not name', { team_id: undefined }, { teamIds: [] }],
  ])('%s', async (_name, user, expected) => {
    const { people } = known({ ...MEMBER, ...user });
    expect(await people.find('T1', 'U1')).toEqual({ ...PLAIN, ...expected });
    expect(await people.exists('T1', 'U1')).toBe('yes');
  });

  it('is a bot when it is Slackbot, whatever Slack says', async () => {
    const { people } = known({ ...MEMBER, id: 'USLACKBOT', is_bot: false });
    expect(await people.find('T1', 'USLACKBOT')).toMatchObject({ isBot: true });
  });

  it.each([
    ['user_not_found', 'no'],
    ['user_not_visible', 'invisible'],
    ['missing_scope', 'hidden'],
    ['ratelimited', 'unknown'],
    ['fatal_error', 'unknown'],
  ])('is not found, with one lookup, when Slack answers %s, and whether they exist is: %s', async (error, exists) => {
    const { people, asked } = refused(error);
    expect(await people.find('T1', 'U404')).toBeUndefined();
    expect(await people.exists('T1', 'U404')).toBe(exists);
    expect(asked).toEqual(['U404']);
  });

  it('is looked up again once for all lookups that need a fresh answer', async () => {
    const { people, asked } = refused('user_not_found');
    expect(await people.exists('T1', 'U404')).toBe('no');
    const isFresh = { isFresh: true };
    await Promise.all([people.find('T1', 'U404', isFresh), people.exists('T1', 'U404', isFresh)]);
    expect(asked).toEqual(['U404', 'U404']);
  });

  it.each([undefined, 'x', { deleted: 'no' }])('is unknown when Slack answers %j', async (user) => {
    const { people } = known(user);
    expect(await people.find('T1', 'U1')).toBeUndefined();
    expect(await people.exists('T1', 'U1')).toBe('unknown');
  });
});

const ONCALL = {
  id: 'S1',
  handle: 'oncall',
  name: 'On call',
  date_delete: 0,
  is_external: false,
  users: ['U1', 'U2'],
};
const OFF = { id: 'S2', handle: 'old', name: 'Old', date_delete: 1_700_000_000, users: ['U1'] };

type Answer = SlackAnswer<{ groups: unknown }>;

/** Groups over a Slack that answers this, and how often it was asked. */
function groupsOf(answer: () => Answer | Promise<Answer> = () => ({ ok: true, groups: [ONCALL, OFF] })) {
  let times = 0;
  const slack = clientsOf({
    listGroups: async () => {
      times += 1;
      return answer();
    },
  });
  const clock = handClock();
  return { clock, groups: createGroups(slack, clock.system), times: () => times };
}

describe('user groups', () => {
  it('have members, or none, which is not the same as unknown', async () => {
    expect(await groupsOf().groups.listMembers('T1', 'S1')).toEqual(['U1', 'U2']);
    const { groups } = groupsOf(() => ({ ok: true, groups: [{ ...ONCALL, users: [] }] }));
    expect(await groups.listMembers('T1', 'S1')).toEqual([]);
  });

  it('give nobody a role when they are disabled or not listed by Slack', async () => {
    const { groups } = groupsOf();
    expect([await groups.listMembers('T1', 'S2'), await groups.listMembers('T1', 'S3')]).toEqual([[], []]);
  });

  it('are unknown when Slack does not say who is in them', async () => {
    const { users: _unsaid, ...bare } = ONCALL;
    const { groups } = groupsOf(() => ({ ok: true, groups: [bare] }));
    expect(await groups.listMembers('T1', 'S1')).toBeUndefined();
  });

  it.each<Answer>([
    { ok: false, error: 'ratelimited' },
    { ok: false, error: 'WebAPIRequestError' },
    { ok: true, groups: undefined },
    { ok: true, groups: [{ id: 7 }] },
    { ok: true, groups: [null] },
  ])('are unknown when Slack answers %j', async (answer) => {
    const { groups } = groupsOf(() => answer);
    expect([await groups.list('T1'), await groups.listMembers('T1', 'S1')]).toEqual([undefined, undefined]);
  });

  it('are fetched at most 15 times a minute by lookups that need fresh answers', async () => {
    const { groups, times, clock } = groupsOf();
    for (let second = 0; second < 60; second++) {
      await groups.listMembers('T1', 'S1', { isFresh: true });
      await clock.pass(1000);
    }
    expect(times()).toBe(15);
  });
});

const look = (answer: SlackAnswer<{ channel: unknown }>) =>
  createChannels(clientsOf({ findChannel: async () => answer }), handClock().system).look('T1', 'C1');

describe('a channel', () => {
  it.each<[string | undefined, SlackAnswer<{ channel: unknown }>]>([
    ['there', { ok: true, channel: { id: 'C1', is_archived: false } }],
    ['there', { ok: true, channel: { id: 'C1' } }],
    ['archived', { ok: true, channel: { id: 'C1', is_archived: true } }],
    ['unknown', { ok: false, error: 'channel_not_found' }],
    [undefined, { ok: false, error: 'missing_scope' }],
    [undefined, { ok: false, error: 'WebAPIRequestError' }],
    [undefined, { ok: true, channel: undefined }],
  ])('is %s when Slack answers %j', async (expected, answer) => {
    expect(await look(answer)).toBe(expected);
  });
});

it.each<[string, boolean | undefined, SlackAnswer<{ channel: unknown }>]>([
  ['not shared with another organization', false, { ok: true, channel: { is_ext_shared: false } }],
  ['shared with another organization', true, { ok: true, channel: { is_ext_shared: true } }],
  ['about to be shared', true, { ok: true, channel: { is_ext_shared: false, is_pending_ext_shared: true } }],
  ['described without a word on sharing', undefined, { ok: true, channel: { id: 'C1' } }],
  ['hidden from the app', undefined, { ok: false, error: 'channel_not_found' }],
  ['not readable without another scope', undefined, { ok: false, error: 'missing_scope' }],
])('a channel that is %s is looked up once a minute, with the answer %s to whether it is shared', async (_name, expected, answer) => {
  let asked = 0;
  const findChannel = async () => {
    asked += 1;
    return answer;
  };
  const { system, pass } = handClock();
  const channels = createChannels(clientsOf({ findChannel }), system);
  expect(await channels.isShared('T1', 'C1')).toBe(expected);
  expect(await channels.isShared('T1', 'C1')).toBe(expected);
  expect(asked).toBe(1);
  await pass(60_000);
  await channels.isShared('T1', 'C1');
  expect(asked).toBe(2);
});

const MINUTE = 60_000;

let clock: HandClock;
/** Every key that Slack was asked for, in order. */
let asked: string[];
/** What Slack answers. */
let answer: string | RateLimited | undefined;
let open: ((answer: string | undefined) => void)[];
let isSlow: boolean;
let find: (key: string, isFresh?: boolean) => Promise<string | undefined>;

beforeEach(() => {
  clock = handClock();
  asked = [];
  answer = 'first';
  open = [];
  isSlow = false;
  find = cacheLookups(
    async (key) => {
      asked.push(key);
      return isSlow ? new Promise((resolve) => open.push(resolve)) : answer;
    },
    clock.system,
    { freshMs: 4000 },
  );
});

describe('a cached lookup', () => {
  it('asks again half a minute after a failure, not before', async () => {
    answer = undefined;
    expect(await find('a')).toBeUndefined();
    answer = 'now';
    await clock.pass(29_999);
    expect(await find('a')).toBeUndefined();
    await clock.pass(1);
    expect(await find('a')).toBe('now');
    expect(asked).toEqual(['a', 'a']);
  });

  it('shares one request among all callers that ask at the same time', async () => {
    isSlow = true;
    const waiting = Array.from({ length: 50 }, () => find('a'));
    open[0]?.('here');
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 50 }, () => 'here'));
    expect(asked).toEqual(['a']);
  });

  it('sends no second request while the first answer is late, and caches that answer', async () => {
    isSlow = true;
    const early = find('a');
    await clock.pass(2000);
    const later = find('a');
    await clock.pass(1000);
    open[0]?.('late');
    expect([await early, await later]).toEqual([undefined, 'late']);
    expect(await find('a')).toBe('late');
    expect(asked).toEqual(['a']);
  });

  it('counts the five minutes from the request, so that a revoked role never counts for longer', async () => {
    isSlow = true;
    const first = find('a');
    await clock.pass(1500);
    open[0]?.('slow');
    await first;
    isSlow = false;
    await clock.pass(5 * MINUTE - 1500);
    await find('a');
    expect(asked).toEqual(['a', 'a']);
  });
});

describe('a cached lookup while Slack rate-limits the app', () => {
  it('uses the last good answer, and doesn’t ask Slack again before it may', async () => {
    expect(await find('a')).toBe('first');
    await clock.pass(5 * MINUTE);
    answer = new RateLimited(MINUTE);
    expect(await find('a')).toBe('first');
    answer = 'second';
    await clock.pass(MINUTE - 1);
    expect(await find('a')).toBe('first');
    expect(asked).toEqual(['a', 'a']);
    await clock.pass(1);
    expect(await find('a')).toBe('second');
  });

  it('returns nothing once the last good answer is 15 minutes old', async () => {
    await find('a');
    await clock.pass(5 * MINUTE);
    answer = new RateLimited(MINUTE);
    for (let minute = 5; minute < 15; minute++) {
      expect(await find('a')).toBe('first');
      await clock.pass(MINUTE);
    }
    expect(await find('a')).toBeUndefined();
  });
});

describe('a fresh lookup', () => {
  const FRESH = true;

  it('asks Slack again although an answer is cached, but not within four seconds', async () => {
    await find('a');
    answer = 'second';
    await clock.pass(3999);
    expect(await find('a', FRESH)).toBe('first');
    await clock.pass(1);
    expect(await find('a', FRESH)).toBe('second');
    expect(asked).toEqual(['a', 'a']);
  });

  it('returns nothing while Slack rate-limits the app, and a cached lookup keeps its answer', async () => {
    await find('a');
    await clock.pass(MINUTE);
    answer = new RateLimited(MINUTE);
    expect([await find('a', FRESH), await find('a')]).toEqual([undefined, 'first']);
  });

  it('returns nothing if Slack fails, while a cached lookup keeps its answer', async () => {
    await find('a');
    await clock.pass(MINUTE);
    answer = undefined;
    expect([await find('a', FRESH), await find('a')]).toEqual([undefined, 'first']);
    await clock.pass(4 * MINUTE);
    expect(await find('a')).toBeUndefined();
  });
});
