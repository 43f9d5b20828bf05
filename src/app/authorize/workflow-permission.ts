import type { Role } from '../../domain/actor.ts';
import { roleCovers } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import { isExpired } from '../../domain/workflow-key.ts';
import type { AppContext } from '../ports.ts';
import type { KnownRoles } from './find-roles.ts';
import type { Caller, UseCaseSpec } from './use-case.ts';

/** What a workflow key is worth, whatever its owner issued it for. */
const ROLE_OF_KEYS: Role = 'operator';

/**
 * The permission of a workflow, which Slack's event doesn't name: what its workflow key says at this moment, and nothing
 * else (docs/workflows.md). The key's pattern then limits it to servers, as that of a role does.
 * @throws Refusal `workflow_key_invalid`
 */
export async function checkWorkflowKey(
  { name, needs }: UseCaseSpec,
  { actor, workflowKeyId }: Caller,
  { workflowKeys, system }: AppContext,
): Promise<KnownRoles> {
  const key = workflowKeyId && (await workflowKeys.find(actor.workspaceId, workflowKeyId));
  if (!key) throw new Refusal('workflow_key_invalid', { problem: 'unknown' });
  if (isExpired(key, system.now())) throw new Refusal('workflow_key_invalid', { problem: 'expired' });
  const isMeant = key.actions.some((action) => action === name);
  if (!isMeant || needs === 'anyone' || !roleCovers(ROLE_OF_KEYS, needs))
    throw new Refusal('workflow_key_invalid', { problem: 'action' });
  return { held: [{ role: ROLE_OF_KEYS, pattern: key.pattern, source: 'named' }], possible: [] };
}
