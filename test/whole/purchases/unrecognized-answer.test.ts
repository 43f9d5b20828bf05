import { describe, expect, test } from 'vitest';
import { until } from '../../support/eventually.ts';
import { startTeam, type Team } from '../../support/team.ts';

const MOST = 16_384;
const INTRODUCTION = 'No root password was recognized. The hosting API answered:\n';

/** The manager has ordered web-1, and the API has sent this answer, in which no password is recognized. */
async function ordered(body: string | Uint8Array) {
  const team = await startTeam();
  team.hosting.faults.add({ on: 'create', kind: 'garbage', garbage: body });
  const manager = team.slack.as('mara').in('#ops');
  await manager.types('/vps create plan=small location=ams image=debian-13 label=web-1');
  await manager.sees('Create and pay');
  await manager.presses('Create and pay');
  await until(async () => (await heldBy(team)).length === 1);
  await manager.sees("I've saved it");
  await manager.closes();
  return Object.assign(team, { manager });
}

const heldBy = (team: Team) => team.app.ports.passwords.listHeld('T0SANDBOX');

type User = ReturnType<ReturnType<Team['slack']['as']>['in']>;

/** The preformatted text of each message that has some. */
function secretsSeenBy(user: User): string[] {
  return user
    .messages()
    .map(({ blocks }) => textsIn(blocks.filter(({ type }) => type === 'rich_text')).join(''))
    .filter((text) => text !== '');
}

function hasSecret({ blocks }: ReturnType<User['messages']>[number]): boolean {
  return blocks.some(({ type }) => type === 'rich_text');
}

function textsIn(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(textsIn);
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) =>
    name === 'text' && typeof value === 'string' ? [value] : textsIn(value),
  );
}

const emoji = (length: number) => `x${'🔑'.repeat(length / 2)}`.slice(0, length - 1);
const BODIES = [
  ['of 12,000 characters', 'a'.repeat(12_000), 'a'.repeat(12_000)],
  ['of 16,384 characters', 'b'.repeat(MOST), 'b'.repeat(MOST)],
  ['of characters that Slack escapes', '<&>'.repeat(5461), '<&>'.repeat(5461)],
  ['of characters of four bytes', emoji(MOST), emoji(MOST)],
  ['of bytes that are no UTF-8', Buffer.alloc(MOST, 0xe4), 'ä'.repeat(MOST)],
  [
    'of 20,000 characters (cut, with a note)',
    'c'.repeat(20_000),
    `${'c'.repeat(MOST)}\n[The rest, ${20_000 - MOST} characters, was too long to keep.]`,
  ],
] as const;

describe('an answer in which no root password is recognized', () => {
  test.each(
    BODIES,
  )('%s is shown whole to its creator alone, in three messages at most', async (_name, body, kept) => {
    await using team = await ordered(body);
    const { manager } = team;
    expect(secretsSeenBy(manager).join('')).toBe(`${INTRODUCTION}${kept}`);
    expect((await heldBy(team))[0]).not.toHaveProperty('heldUntil');
    manager.reloads();
    manager.overlooksOldMessages();
    await manager.types('/vps password web-1');
    await manager.sees("I've saved it");
    const seen = secretsSeenBy(manager);
    expect(seen.join('')).toBe(`${INTRODUCTION}${kept}`);
    expect(seen.length).toBeLessThanOrEqual(3);
    expect(manager.messages().filter((each) => !each.ephemeral && hasSecret(each))).toEqual([]);
    for (const name of ['olga', 'otto', 'vera'] as const)
      expect(secretsSeenBy(team.slack.as(name).in('#ops'))).toEqual([]);
    await expect.poll(() => heldBy(team)).toMatchObject([{ heldUntil: expect.any(Number) }]);
    expect(team.slack.brokenRules()).toEqual([]);
  });

  test('is held without a time limit, and its creator is told to ask again, until Slack has accepted the last part', async () => {
    await using team = await ordered('d'.repeat(MOST));
    const { manager } = team;
    manager.reloads();
    manager.overlooksOldMessages();
    team.slack.faults.failMethod('chat.postEphemeral', 'internal_error');
    for (const taken of [1, 2]) {
      team.slack.faults.breakReplyUrls(500, 1, taken);
      await manager.types('/vps password web-1');
      const dm = team.slack.as('mara').in('dm');
      await expect
        .poll(() => dm.messages().filter(({ shown }) => shown.includes('If you don’t see all of it')).length)
        .toBe(taken);
      await manager.sees(`part ${taken} of 3`);
      manager.doesNotSee(`part ${taken + 1} of 3`);
      expect((await heldBy(team))[0]).not.toHaveProperty('heldUntil');
      manager.overlooksOldMessages();
    }
    await manager.types('/vps password web-1');
    await manager.sees('part 3 of 3');
    await expect.poll(() => heldBy(team)).toMatchObject([{ heldUntil: expect.any(Number) }]);
    await manager.presses("I've saved it");
    await manager.sees('password erased');
    expect(await heldBy(team)).toEqual([]);
  });

  test('is shown in the Messages tab when its creator asks on Home, which says so once', async () => {
    await using team = await ordered('e'.repeat(MOST));
    const dm = team.slack.as('mara').in('dm');
    await dm.opensHome();
    await dm.presses('Show password');
    await dm.sees('part 3 of 3');
    await dm.sees('in the Messages tab, visible only to you');
    expect(dm.home()?.shown.match(/visible only to you/g)).toHaveLength(1);
    expect(JSON.stringify(dm.home()?.blocks)).not.toContain('rich_text');
    expect(secretsSeenBy(dm).join('')).toBe(`${INTRODUCTION}${'e'.repeat(MOST)}`);
  });
});
