import { Refusal } from '../../domain/errors.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { Workspaces } from './ports.ts';

/**
 * Lets nothing pass that would be paid while purchases are frozen.
 * @throws Refusal `purchases_frozen`
 */
export async function refuseFrozen(
  workspaceId: WorkspaceId,
  workspaces: Pick<Workspaces, 'find'>,
): Promise<void> {
  const freeze = (await workspaces.find(workspaceId))?.settings.freeze;
  if (freeze) throw new Refusal('purchases_frozen', { frozenBy: freeze.by, since: freeze.since });
}
