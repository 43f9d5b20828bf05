import type { Scene, SceneOptions } from './scene.ts';

/** Stories by name; each starts one scene. */
export type Stories = Readonly<
  Record<string, (start: (options?: SceneOptions) => Promise<Scene>) => Promise<void>>
>;
