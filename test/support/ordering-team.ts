import { DatabaseSync } from '@photostructure/sqlite';
import { DEFAULT_SETTINGS } from '../../src/core/settings.ts';
import { TEAM } from '../../src/sandbox/slack/workspace.ts';
import { orderOf } from './acts.ts';
import { movableSystem } from './clocks.ts';
import { startRuledTeam } from './ruled-team.ts';
import type { Team, TeamOptions } from './team.ts';

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

/** Makes writes to the database fail, as a full disk does, from another connection; returns the way to end it. */
export function failWrites({ environment }: Team, on: string): () => void {
  const other = new DatabaseSync((environment.DATABASE_URL ?? '').replace(/^sqlite:/, ''));
  other.exec(`create trigger full before ${on} begin select raise(abort, 'disk is full'); end`);
  return () => {
    other.exec('drop trigger full');
    other.close();
  };
}
