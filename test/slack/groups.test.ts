import { describe, expect, it } from 'vitest';
import { createGroups } from '../../src/slack/groups.ts';
import type { SlackAnswer } from '../../src/slack/slack-api.ts';
import { handClock } from './support/hand-clock.ts';
import { partialSlack } from './support/partial-slack.ts';

const ONCALL = { id: 'S1', handle: 'oncall', name: 'On call', date_delete: 0, is_external: false };

/** Groups over a Slack that answers this, and what it was asked. */
function groupsOf(answers: {
  groups?: SlackAnswer<{ groups: unknown }>;
  members?: (groupId: string) => SlackAnswer<{ userIds: unknown }>;
}) {
  const asked: string[] = [];
  const slack = partialSlack({
    listGroups: async () => {
      asked.push('list');
      return answers.groups ?? { ok: true, groups: [ONCALL] };
    },
    listGroupMembers: async (groupId) => {
      asked.push(groupId);
      return answers.members?.(groupId) ?? { ok: true, userIds: ['U1', 'U2'] };
    },
  });
  const clock = handClock();
  return { asked, clock, groups: createGroups(slack, clock.system) };
}

describe('user groups', () => {
  it('are listed with their handles, switched-off ones as such', async () => {
    const off = { id: 'S2', handle: 'old', name: 'Old', date_delete: 1_700_000_000 };
    const { groups } = groupsOf({ groups: { ok: true, groups: [ONCALL, off] } });
    expect(await groups.list('T1')).toEqual([
      { id: 'S1', handle: 'oncall', name: 'On call', isDisabled: false },
      { id: 'S2', handle: 'old', name: 'Old', isDisabled: true },
    ]);
  });

  it('have members', async () => {
    expect(await groupsOf({}).groups.listMembers('T1', 'S1')).toEqual(['U1', 'U2']);
  });

  it('are empty when nobody is in them, which is not the same as unknown', async () => {
    const { groups } = groupsOf({ members: () => ({ ok: true, userIds: [] }) });
    expect(await groups.listMembers('T1', 'S1')).toEqual([]);
  });

  it.each([
    'missing_scope',
    'no_such_subteam',
    'ratelimited',
    'WebAPIRequestError',
  ])('are unknown when Slack says %s', async (error) => {
    const { groups } = groupsOf({
      groups: { ok: false, error },
      members: () => ({ ok: false, error }),
    });
    expect([await groups.list('T1'), await groups.listMembers('T1', 'S1')]).toEqual([undefined, undefined]);
  });

  it.each([undefined, 'x', [{ id: 7 }], [null]])('are unknown when Slack answers %j', async (answer) => {
    const { groups } = groupsOf({
      groups: { ok: true, groups: answer },
      members: () => ({ ok: true, userIds: answer }),
    });
    expect([await groups.list('T1'), await groups.listMembers('T1', 'S1')]).toEqual([undefined, undefined]);
  });

  it('are asked for once in five minutes each, however many people wait', async () => {
    const { groups, asked, clock } = groupsOf({});
    const askAll = () =>
      Promise.all(['S1', 'S2', 'S1', 'S2'].map((groupId) => groups.listMembers('T1', groupId)));
    await askAll();
    await groups.list('T1');
    await clock.pass(5 * 60_000 - 1);
    await askAll();
    await groups.list('T1');
    expect(asked).toEqual(['S1', 'S2', 'list']);
    await clock.pass(1);
    await askAll();
    expect(asked).toEqual(['S1', 'S2', 'list', 'S1', 'S2']);
  });

  it('open nothing for half a minute after Slack did not answer, and are asked for again then', async () => {
    let isDown = true;
    const { groups, clock, asked } = groupsOf({
      members: () => (isDown ? { ok: false, error: 'WebAPIRequestError' } : { ok: true, userIds: ['U1'] }),
    });
    await groups.listMembers('T1', 'S1');
    isDown = false;
    await clock.pass(29_999);
    expect(await groups.listMembers('T1', 'S1')).toBeUndefined();
    await clock.pass(1);
    expect(await groups.listMembers('T1', 'S1')).toEqual(['U1']);
    expect(asked).toEqual(['S1', 'S1']);
  });

  it('one that Slack is slow about does not hold up another', async () => {
    const { system, pass } = handClock();
    const slack = partialSlack({
      listGroupMembers: (groupId) =>
        groupId === 'S1' ? new Promise(() => {}) : Promise.resolve({ ok: true, userIds: ['U1'] }),
    });
    const groups = createGroups(slack, system);
    const slow = groups.listMembers('T1', 'S1');
    expect(await groups.listMembers('T1', 'S2')).toEqual(['U1']);
    await pass(2000);
    expect(await slow).toBeUndefined();
  });
});
