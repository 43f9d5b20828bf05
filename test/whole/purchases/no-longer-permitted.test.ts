import { expect, test } from 'vitest';
import { money } from '../../../src/core/money.ts';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';
import { TEAM } from '../../../src/sandbox/slack/workspace.ts';
import { type OrderingTeam, startOrdering } from '../../attacks/support/ordering-team.ts';

async function setSettings(team: OrderingTeam, change: Partial<typeof DEFAULT_SETTINGS>): Promise<void> {
  const { workspaces } = team.app.ports;
  const was = (await workspaces.find(TEAM.id))?.settings ?? DEFAULT_SETTINGS;
  await workspaces.changeSettings(TEAM.id, was, { ...was, ...change });
}

/** What no longer permits an order, and what its user hears then. */
const CHANGES: readonly (readonly [string, RegExp, (team: OrderingTeam) => Promise<unknown>])[] = [
  [
    'its user’s role is revoked',
    /role/,
    async ({ owner }) => {
      await owner.types('/vps access revoke @mara');
      await owner.sees('was revoked');
    },
  ],
  [
    'the hosting account is disconnected',
    /API key|connect/,
    async ({ owner }) => {
      await owner.types('/vps disconnect');
      await owner.presses('Disconnect');
      await owner.sees('is disconnected');
    },
  ],
  [
    'purchases are frozen',
    /Purchases are frozen/,
    (team) => setSettings(team, { freeze: { by: team.owner.id, since: 0 } }),
  ],
  [
    'the workspace’s budget is lowered',
    /budget/,
    (team) => setSettings(team, { budget: { workspace: money(1) } }),
  ],
  ['its user’s budget is lowered', /budget/, (team) => setSettings(team, { budget: { person: money(1) } })],
  [
    'the two-person rule is turned on',
    /approv/,
    (team) => setSettings(team, { approval: { ...DEFAULT_SETTINGS.approval, createAbove: money(0) } }),
  ],
];

test.each(CHANGES)('an order that waits for its turn is not sent after %s', async (_what, words, change) => {
  await using team = await startOrdering();
  // The order has been permitted, and waits for the list of servers before it is sent.
  const lists = () => team.hosting.requests({ operation: 'servers' }).length;
  const before = lists();
  team.hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: 700 });
  await team.manager.presses('Create and pay');
  await expect.poll(lists).toBeGreaterThan(before);
  await change(team);
  await team.manager.sees(words);
  await expect.poll(() => team.listOpen()).toEqual([]);
  expect(team.creates()).toBe(0);
  expect(team.charges()).toBe(0);
});
