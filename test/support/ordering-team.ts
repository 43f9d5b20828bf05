import { DEFAULT_SETTINGS } from '../../src/core/settings.ts';
import { TEAM } from '../../src/sandbox/slack/workspace.ts';
import { orderOf } from './acts.ts';
import { movableSystem } from './clocks.ts';
import { startRuledTeam } from './ruled-team.ts';
import type { TeamOptions } from './team.ts';

export type OrderingTeam = Awaited<ReturnType<typeof startOrdering>>;

/** Starts a team whose manager has the review of web-1 in front of them; its clocks can be moved. */
export async function startOrdering(options: TeamOptions = {}) {
  const system = movableSystem();
  const team = await startRuledTeam(DEFAULT_SETTINGS, { system, ...options });
  await team.manager.types(orderOf('web-1'));
  await team.manager.sees('Create and pay');
  /** The orders that are neither done nor refused. */
  const listOpen = () => team.app.ports.ledger.listOpen(TEAM.id);
  return Object.assign(team, { system, listOpen });
}
