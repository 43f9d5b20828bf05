import type { Surface } from './pieces.ts';

/** The surfaces of the tests: read only when somebody looks at the gallery, since a sandbox runs without them. */
export async function readSurfaces(): Promise<readonly Surface[]> {
  const { surfaces } = await import('../../../test/support/surfaces.ts');
  return surfaces;
}
