import type { World } from '../world.ts';
import type { IssuedToken } from './oauth.ts';

/** Where an app can be installed: a workspace, or an organization. */
export interface Place {
  readonly id: string;
  readonly name: string;
  readonly isOrg: boolean;
}

/** The workspaces, and the organizations that they belong to. */
export function listPlaces(worlds: readonly World[]): readonly Place[] {
  const orgs = new Map(worlds.flatMap(({ grid }) => (grid ? [[grid.id, grid] as const] : [])));
  return [
    ...worlds.map(({ team: { id, name } }) => ({ id, name, isOrg: false })),
    ...[...orgs.values()].map(({ id, name }) => ({ id, name, isOrg: true })),
  ];
}

/** The workspaces that a token is for: of an organization, those that its admins have added the app to. */
export function worldsOf(worlds: readonly World[], { place, isOrg }: Pick<IssuedToken, 'place' | 'isOrg'>) {
  return worlds.filter(({ team, grid }) =>
    isOrg ? grid?.id === place && grid.isOrgInstall : team.id === place,
  );
}
