import { describe, expect, it } from 'vitest';
import { createUsers } from '../../../src/slack/directory.ts';
import type { SlackAnswer } from '../../../src/slack/slack-api.ts';
import { handClock } from '../support/hand-clock.ts';
import { clientsOf } from '../support/partial-slack.ts';

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
  const plain = {
    isAdmin: false,
    isGuest: false,
    isBot: false,
    isDeactivated: false,
    isStranger: false,
    teamIds: ['T1'],
  };

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
    ['is from an Enterprise Grid that names no teams', { enterprise_user: { id: 'W1' } }, {}],
    ['is from no Enterprise Grid', { enterprise_user: null }, {}],
    ['is from a team that Slack does not name', { team_id: undefined }, { teamIds: [] }],
  ])('%s', async (_name, user, expected) => {
    const { people } = known({ ...MEMBER, ...user });
    expect(await people.find('T1', 'U1')).toEqual({ ...plain, ...expected });
    expect(await people.exists('T1', 'U1')).toBe('yes');
  });

  it('is a bot when it is Slackbot, whatever Slack says', async () => {
    const { people } = known({ ...MEMBER, id: 'USLACKBOT', is_bot: false });
    expect(await people.find('T1', 'USLACKBOT')).toMatchObject({ isBot: true });
  });

  it.each([
    ['user_not_found', 'no'],
    ['user_not_visible', 'invisible'],
  ])('is not found when Slack answers %s', async (error, exists) => {
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

  it('is hidden, with one lookup, when the app lacks the scope', async () => {
    const { people, asked } = refused('missing_scope');
    expect(await people.find('T1', 'U1')).toBeUndefined();
    expect(await people.exists('T1', 'U1')).toBe('hidden');
    expect(asked).toEqual(['U1']);
  });

  it.each([
    'ratelimited',
    'WebAPIRequestError',
    'fatal_error',
  ])('is unknown, neither found nor missing, when Slack answers %s', async (error) => {
    const { people } = refused(error);
    expect(await people.find('T1', 'U1')).toBeUndefined();
    expect(await people.exists('T1', 'U1')).toBe('unknown');
  });

  it.each([undefined, 'x', { deleted: 'no' }])('is unknown when Slack answers %j', async (user) => {
    const { people } = known(user);
    expect(await people.find('T1', 'U1')).toBeUndefined();
    expect(await people.exists('T1', 'U1')).toBe('unknown');
  });

  it('is looked up once for the details and for whether they exist', async () => {
    const { people, asked } = known(MEMBER);
    await Promise.all([people.find('T1', 'U1'), people.exists('T1', 'U1'), people.find('T1', 'U2')]);
    expect(asked).toEqual(['U1', 'U2']);
  });
});
