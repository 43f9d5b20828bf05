import type { Account } from '../hosting/accounts.ts';
import { decimalOf } from '../hosting/catalog.ts';
import type { Fault } from '../hosting/faults.ts';
import type { HostingService } from '../hosting/hosting.ts';
import type { RequestEntry } from '../hosting/journal.ts';
import { findPresetOf } from './actions.ts';
import type { PanelAccount, PanelFault } from './panel-api.ts';

/** Describes the account and the service; `appKey` is the app's API key of its workspace. */
export function panelAccount(
  hosting: HostingService,
  account: Account,
  appKey: string | undefined,
): PanelAccount {
  const used = appKey === undefined ? undefined : hosting.accounts.findKeyEntry(appKey);
  const works = appKey !== undefined && hosting.accounts.findByKey(appKey) !== undefined;
  return {
    name: account.name,
    balance: decimalOf(hosting.balanceOf(account)),
    keys: hosting.accounts
      .listKeys(account)
      .map(({ hash: _, ...key }) => ({ ...key, isUsedByApp: key.id === used?.id })),
    connection: appKey === undefined ? 'none' : works ? 'works' : 'revoked',
    faults: hosting.faults.list().flatMap(panelFault),
    plans: hosting.prices.current.plans,
    movedMs: hosting.clock.skippedMs,
  };
}

/** A key may have been pasted into the path by mistake. */
export function maskKeys(request: RequestEntry): RequestEntry {
  return { ...request, path: request.path.replace(/hk_[\w-]+/g, '[masked]') };
}

/** Faults that only a test can have switched on are left out. */
function panelFault({ id, rule, left }: Fault): readonly PanelFault[] {
  const preset = findPresetOf(rule);
  return preset ? [{ id, preset: preset.id, left: Number.isFinite(left) ? left : null }] : [];
}
