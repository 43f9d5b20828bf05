import type { UseCaseContext } from '../authorize/use-case.ts';

/** Which API key the workspace has: what is followed under it is not looked for under another one. */
export async function findKeyGeneration({
  actor,
  app,
}: Pick<UseCaseContext, 'actor' | 'app'>): Promise<number> {
  return (await app.apiKeys.find(actor.workspaceId))?.generation ?? 0;
}
