import type { Account } from '../hosting/accounts.ts';
import { decimalOf } from '../hosting/catalog.ts';
import type { Fault } from '../hosting/faults.ts';
import type { HostingService } from '../hosting/hosting.ts';
import type { MoneyEntry, RequestEntry } from '../hosting/journal.ts';
import { findPresetOf } from './actions.ts';
import type { PanelAccount, PanelFault, PanelMoney, PanelRequest, PanelServer } from './panel-api.ts';

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
    keys: hosting.accounts.listKeys(account).map(({ id, hint, createdAtMs, revokedAtMs }) => ({
      id,
      hint,
      createdAt: createdAtMs,
      revokedAt: revokedAtMs ?? null,
      isUsedByApp: id === used?.id,
    })),
    connection: appKey === undefined ? 'none' : works ? 'works' : 'revoked',
    faults: hosting.faults.list().flatMap(panelFault),
    prices: hosting.prices.current.plans.map(({ code, monthly }) => ({ plan: code, price: monthly })),
    movedMs: hosting.clock.skippedMs,
  };
}

export function panelServers(hosting: HostingService, account: Account): readonly PanelServer[] {
  return hosting.listServers(account).map(({ paid_until, ...server }) => ({
    ...server,
    paidUntil: Date.parse(paid_until),
  }));
}

export function panelMoney({ id, atMs, kind, amountMinor, what }: MoneyEntry): PanelMoney {
  return { id, at: atMs, kind, amount: decimalOf(amountMinor), what };
}

export function panelRequest(request: RequestEntry): PanelRequest {
  const { id, realAtMs, method, path, operation, serverId, ending, status, code, fault } = request;
  return {
    id,
    at: realAtMs,
    method,
    // A key may have been pasted into the path by mistake.
    path: path.replace(/hk_[\w-]+/g, '[masked]'),
    operation: operation ?? null,
    server: serverId ?? null,
    ending,
    status: status ?? null,
    code: code ?? null,
    fault: fault ?? null,
    didWork: request.didWork,
    tookMs: request.durationMs === undefined ? null : Math.round(request.durationMs),
  };
}

/** Faults that only a test can have switched on are left out. */
function panelFault({ id, rule, left }: Fault): readonly PanelFault[] {
  const preset = findPresetOf(rule);
  return preset ? [{ id, preset: preset.id, left: Number.isFinite(left) ? left : null }] : [];
}
