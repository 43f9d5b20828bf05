import { type ErasedByHand, eraseByHand } from '../app/installations/erase-by-hand.ts';
import { createLocks } from '../app/locks.ts';
import type { StoreConfig } from '../config.ts';
import type { InstallationId } from '../domain/ids.ts';
import { silentLog } from '../log.ts';
import { openStore } from '../store/open-store.ts';
import { realSystem } from '../system.ts';
import type { Vault } from '../vault.ts';
import { print } from './program.ts';

const NOTHING_ERASED: Readonly<Record<Exclude<ErasedByHand, 'erased'>, string>> = {
  not_installed: 'Nothing was erased: no install of the app is stored for it.',
  in_use: "Nothing was erased: Slack hasn't refused the app's token there. Uninstall the app in Slack first.",
};

/**
 * Erases what is stored of a workspace or an organization that has uninstalled the app. The app itself may be running.
 * @throws Error, DatabaseUnusable: each with a sentence for the operator
 */
export async function eraseInstallation(
  id: InstallationId,
  { DATABASE_URL: databaseUrl }: StoreConfig,
  vault: Vault,
): Promise<void> {
  const store = await openStore({ databaseUrl, vault, system: realSystem, lock: false });
  try {
    // Whether a token has expired is decided by the clock that the app has, too.
    const system = { ...realSystem, ...store.clock };
    const locks = createLocks({ leases: store.lockLeases, system, log: silentLog });
    const outcome = await eraseByHand(id, { ...store, locks, system });
    if (outcome !== 'erased') throw new Error(NOTHING_ERASED[outcome]);
    print(
      `Erased for ${id}: the token, API keys, root passwords and roles. The audit log stays. Servers keep running.`,
    );
  } finally {
    await store.close();
  }
}
