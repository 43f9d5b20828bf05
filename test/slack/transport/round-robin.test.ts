import { describe, expect, test } from 'vitest';
import { claimedWorkspace, createRoundRobin } from '../../../src/slack/transport/round-robin.ts';

const goneAround = () => new Promise((resolve) => setImmediate(resolve));

describe('requests that arrive together', () => {
  test('begin in turn of their workspaces: one that sent hundreds doesn’t keep another waiting', async () => {
    const inTurn = createRoundRobin();
    const begun: string[] = [];
    for (let nth = 0; nth < 300; nth++) void inTurn('noisy').then(() => begun.push(`noisy ${nth}`));
    void inTurn('quiet').then(() => begun.push('quiet'));
    await goneAround();
    expect(begun).toEqual(['noisy 0', 'quiet']);
    void inTurn('late').then(() => begun.push('late'));
    await goneAround();
    expect(begun.slice(2)).toEqual(['noisy 1', 'late']);
  });

  test('all begin, in their order', async () => {
    const inTurn = createRoundRobin();
    const begun: number[] = [];
    const all = Array.from({ length: 50 }, (_, nth) => inTurn('T1').then(() => begun.push(nth)));
    await Promise.all(all);
    expect(begun).toEqual(Array.from({ length: 50 }, (_, nth) => nth));
    await inTurn('T1');
  });
});

const json = (value: object) => encodeURIComponent(JSON.stringify(value));

describe('the workspace that a request claims', () => {
  test.each([
    ['a command', 'token=x&team_id=T0123ABC&team_domain=acme&user_id=U1'],
    ['a button', `payload=${json({ type: 'block_actions', user: { id: 'U1' }, team: { id: 'T0123ABC' } })}`],
    ['a user in it', `payload=${json({ type: 'block_actions', user: { id: 'U1', team_id: 'T0123ABC' } })}`],
    ['an event', JSON.stringify({ token: 'x', team_id: 'T0123ABC', event: { type: 'app_mention' } })],
  ])('is found in %s', (_, body) => {
    expect(claimedWorkspace(body)).toBe('T0123ABC');
  });

  test.each([
    '',
    'null',
    'team',
    '{"team":null}',
    `payload=${json({ team: null })}`,
  ])('is none where there is none: %j', (body) => {
    expect(claimedWorkspace(body)).toBe('');
  });
});
