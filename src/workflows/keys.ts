import { createHash } from 'node:crypto';
import type { AuditDetails } from '../core/audit-entry.ts';
import { defineUseCase } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { WorkflowKeyId, WorkspaceId } from '../core/ids.ts';
import type { WorkflowKey } from '../core/roles.ts';
import { Secret } from '../core/secret.ts';
import type { PowerAction } from '../core/server.ts';

/** The beginning of every key, by which scanners for leaked secrets, and people, recognize one. */
export const KEY_PREFIX = 'vpswf_';

const MOST_KEYS = 50;

export interface WantedKey {
  readonly name: string;
  readonly actions: readonly PowerAction[];
  /** A pattern of labels (`core/labels.ts`); '' for every server. */
  readonly pattern: string;
  /** How long the key works, in milliseconds; absent until it is revoked. */
  readonly forMs?: number | undefined;
}

export interface IssuedKey {
  readonly key: WorkflowKey;
  /** The key itself: it is shown once and stored nowhere. */
  readonly secret: Secret<string>;
}

/** @throws Refusal `workflow_key_name` when there is one of that name, `workflow_keys_full` */
export const issueKey = defineUseCase({
  name: 'workflow_key_issue',
  needs: 'owner',
  effect: 'changes',
  subject: (wanted: WantedKey) => ({ details: auditKey(wanted) }),
  run: async (wanted: WantedKey, { actor, app }): Promise<IssuedKey> => {
    const { system, workflowKeys } = app;
    const { workspaceId, userId: issuedBy } = actor;
    const { name, actions, pattern, forMs } = wanted;
    const issuedAt = system.now();
    const until = forMs === undefined ? undefined : issuedAt + forMs;
    const limits = { actions, pattern, until };
    const key: WorkflowKey = { id: system.newId(), workspaceId, name, issuedBy, issuedAt, ...limits };
    const secret = new Secret(`${KEY_PREFIX}${system.newToken(KEY_BYTES)}`);
    if (await workflowKeys.add({ ...key, hash: hashKey(secret, workspaceId) }, MOST_KEYS))
      return { key, secret };
    const known = await workflowKeys.list(workspaceId);
    if (known.length >= MOST_KEYS) throw new Refusal('workflow_keys_full', { most: MOST_KEYS });
    throw new Refusal('workflow_key_name', { name });
  },
});

/** Lists the workflow keys of the workspace, without anything that they could be used with. */
export const listKeys = defineUseCase({
  name: 'workflow_keys',
  needs: 'owner',
  effect: 'reads',
  run: (_input: Record<never, never>, { actor, app }): Promise<readonly WorkflowKey[]> =>
    app.workflowKeys.list(actor.workspaceId),
});

/** Revokes a workflow key. Runs that it started and that were not sent are not sent any more. @throws Refusal `workflow_key_gone` */
export const revokeKey = defineUseCase({
  name: 'workflow_key_revoke',
  needs: 'owner',
  effect: 'changes',
  subject: ({ id }: { id: WorkflowKeyId }) => ({ details: { kind: 'id', id } }),
  run: async ({ id }: { id: WorkflowKeyId }, { actor, app, setSubject }): Promise<WorkflowKey> => {
    const key = await app.workflowKeys.remove(actor.workspaceId, id);
    if (!key) throw new Refusal('workflow_key_gone', {});
    setSubject({ details: auditKey(key) });
    return key;
  },
});

function auditKey({ name, actions, pattern }: WantedKey): AuditDetails {
  return { kind: 'workflow_key', name, actions, pattern };
}

/** 192 bits: too many to be guessed, so that a plain hash hides them as well as a slow one. */
const KEY_BYTES = 24;

/** Hashes a workflow key with its workspace, so that the stored hash opens nothing in another one. */
export function hashKey(key: Secret<string>, workspaceId: WorkspaceId): string {
  return createHash('sha256')
    .update(JSON.stringify(['workflow key', workspaceId, key.reveal()]))
    .digest('hex');
}
