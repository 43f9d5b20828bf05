import { DatabaseSync } from '@photostructure/sqlite';
import { TEAM } from '../../src/sandbox/slack/workspace.ts';
import { movableSystem } from './clocks.ts';
import { startTeam, type Team, type TeamOptions } from './team.ts';

/** A running app of which the manager has the review of web-1 in front of them. */
export interface OrderingTeam extends Team {
  readonly manager: ReturnType<Team['slack']['as']>;
  readonly owner: ReturnType<Team['slack']['as']>;
  readonly system: ReturnType<typeof movableSystem>;
  creates(): number;
  charges(): number;
  /** The orders that are neither done nor refused. */
  listOpen(): ReturnType<Team['app']['ports']['ledger']['listOpen']>;
}

export const ORDER = '/vps create plan=small location=ams image=debian-13 label=web-1';

/** Starts it; its clocks can be moved. */
export async function startOrdering(options: TeamOptions = {}): Promise<OrderingTeam> {
  const system = movableSystem();
  const team = await startTeam({ system, ...options });
  const manager = team.slack.as('mara').in('#ops');
  const listOpen = () => team.app.ports.ledger.listOpen(TEAM.id);
  await manager.types(ORDER);
  await manager.sees('Create and pay');
  return Object.assign(team, {
    manager,
    owner: team.slack.as('olga').in('#ops'),
    system,
    creates: () => team.hosting.requests({ operation: 'create' }).length,
    charges: () => team.hosting.charges(team.account).length,
    listOpen,
  });
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
