import { describe, expect, it } from 'vitest';
import { createGroups } from '../../../src/slack/directory.ts';
import type { SlackAnswer } from '../../../src/slack/slack-api.ts';
import { handClock } from '../support/hand-clock.ts';
import { clientsOf } from '../support/partial-slack.ts';

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
  it('are listed with their handles, and disabled ones as disabled', async () => {
    expect(await groupsOf().groups.list('T1')).toEqual([
      { id: 'S1', handle: 'oncall', name: 'On call', isDisabled: false },
      { id: 'S2', handle: 'old', name: 'Old', isDisabled: true },
    ]);
  });

  it('have members', async () => {
    expect(await groupsOf().groups.listMembers('T1', 'S1')).toEqual(['U1', 'U2']);
  });

  it('are empty when they have no members, which is not the same as unknown', async () => {
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

  it('give nobody a role without the scope usergroups:read', async () => {
    const { groups } = groupsOf(() => ({ ok: false, error: 'missing_scope' }));
    expect([await groups.list('T1'), await groups.listMembers('T1', 'S1')]).toEqual([undefined, []]);
  });

  it.each(['ratelimited', 'WebAPIRequestError'])('are unknown when Slack says %s', async (error) => {
    const { groups } = groupsOf(() => ({ ok: false, error }));
    expect([await groups.list('T1'), await groups.listMembers('T1', 'S1')]).toEqual([undefined, undefined]);
  });

  it.each([undefined, 'x', [{ id: 7 }], [null]])('are unknown when Slack answers %j', async (answer) => {
    const { groups } = groupsOf(() => ({ ok: true, groups: answer }));
    expect([await groups.list('T1'), await groups.listMembers('T1', 'S1')]).toEqual([undefined, undefined]);
  });

  it('are fetched once in five minutes, however many groups there are and however many users wait', async () => {
    const { groups, times, clock } = groupsOf();
    const ids = Array.from({ length: 40 }, (_, index) => `S${index}`);
    const askAll = () => Promise.all(ids.map((groupId) => groups.listMembers('T1', groupId)));
    await askAll();
    await groups.list('T1');
    await clock.pass(5 * 60_000 - 1);
    await askAll();
    expect(times()).toBe(1);
    await clock.pass(1);
    await askAll();
    expect(times()).toBe(2);
  });

  it('are fetched at most 15 times a minute by lookups that need fresh answers', async () => {
    const { groups, times, clock } = groupsOf();
    for (let second = 0; second < 60; second++) {
      await groups.listMembers('T1', 'S1', { isFresh: true });
      await clock.pass(1000);
    }
    expect(times()).toBe(15);
  });

  it('are unknown for 30 s after Slack did not answer, and are fetched again after that', async () => {
    let isDown = true;
    const { groups, clock, times } = groupsOf(() =>
      isDown ? { ok: false, error: 'WebAPIRequestError' } : { ok: true, groups: [ONCALL] },
    );
    await groups.listMembers('T1', 'S1');
    isDown = false;
    await clock.pass(29_999);
    expect(await groups.listMembers('T1', 'S1')).toBeUndefined();
    await clock.pass(1);
    expect(await groups.listMembers('T1', 'S1')).toEqual(['U1', 'U2']);
    expect(times()).toBe(2);
  });

  it('delay a lookup by at most two seconds', async () => {
    const { groups, clock } = groupsOf(() => new Promise(() => {}));
    const slow = groups.listMembers('T1', 'S1');
    await clock.pass(2000);
    expect(await slow).toBeUndefined();
  });
});
