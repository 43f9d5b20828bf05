import type { Surface } from './fixtures/surface.ts';

/** The surfaces of the gallery, loaded only when it is opened: the sandbox starts faster without them. */
export async function readSurfaces(): Promise<readonly Surface[]> {
  const { surfaces } = await import('./fixtures/surfaces.ts');
  return surfaces;
}
