import type { Store } from '../../src/context.ts';
import { Secret } from '../../src/core/secret.ts';
import { openStore } from '../../src/db/open-store.ts';
import type { Vault } from '../../src/db/vault.ts';
import { realSystem } from '../../src/system.ts';

/** A workspace that installed the app by OAuth, and the user who did, who is its owner. */
export interface Installed {
  readonly workspaceId: string;
  readonly userId: string;
}

export function nameWorkspace(nth: number): Installed {
  const digits = String(nth).padStart(8, '0');
  return { workspaceId: `T${digits}`, userId: `U${digits}` };
}

interface Fill {
  readonly databaseUrl: string;
  readonly vault: Vault;
  readonly count: number;
  /** The API key of each. */
  readonly keyOf: (nth: number) => string;
}

/** Fills a store with installs, as OAuth and `/vps connect` leave them: sealed tokens, sealed keys, an owner, an audit. */
export async function fillWorkspaces({ databaseUrl, vault, count, keyOf }: Fill): Promise<void> {
  const store = await openStore({ databaseUrl, vault, system: realSystem });
  for (let nth = 0; nth < count; nth++) await installOne(store, nameWorkspace(nth), keyOf(nth));
  await store.close();
}

async function installOne(
  { installationStore, apiKeys }: Store,
  { workspaceId, userId }: Installed,
  key: string,
) {
  const at = realSystem.now();
  const installation = {
    id: workspaceId,
    isOrg: false,
    name: `Workspace ${workspaceId}`,
    installedBy: userId,
    installedAt: at,
    scopes: ['commands', 'chat:write'],
    tokens: { bot: new Secret(`xoxb-${workspaceId}`) },
  };
  const audit = { actorId: userId, surface: 'page', action: 'install', outcome: 'done' } as const;
  await installationStore.install(installation, (id) => [{ ...audit, at, workspaceId: id, actId: id }]);
  await apiKeys.put(workspaceId, new Secret(key), userId, at);
}
