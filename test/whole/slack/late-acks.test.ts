import { describe, expect, it } from 'vitest';
import { startTeam } from '../../support/team.ts';

/** Slack takes a second to apply what an ack says, while it takes an update of the same view at once. */
async function startWithLateAcks() {
  const team = await startTeam();
  team.hosting.seedServers(team.account, 1, 'web');
  team.slack.faults.applyAcksLate(900);
  return team;
}

describe('a modal whose ack Slack applies late', () => {
  it('shows that a server was deleted, and not that the delete is still running', async () => {
    await using team = await startWithLateAcks();
    const manager = team.slack.as('mara').in('#ops');
    await manager.types('/vps delete web-1');
    await manager.fills({ 'To confirm, type web-1': 'web-1' });
    await manager.presses('Delete');
    await expect.poll(() => manager.modal()?.shown).toContain('was deleted');
  });

  it('shows the outcome of an order', async () => {
    await using team = await startWithLateAcks();
    const manager = team.slack.as('mara').in('#ops');
    await manager.types('/vps create plan=small location=ams image=debian-13 label=web-9');
    await manager.presses('Create and pay');
    await expect.poll(() => manager.modal()?.shown).toContain('went through');
  });

  it('shows that settings were saved', async () => {
    await using team = await startWithLateAcks();
    const owner = team.slack.as('olga').in('#ops');
    await owner.types('/vps settings approvals');
    await owner.fills({ 'Renewing servers': 'On' });
    await owner.presses('Save');
    await expect.poll(() => owner.modal()?.shown).not.toContain('[Save]');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(owner.modal()?.shown).not.toMatch(/hosting API…|Saving/);
  });
});
