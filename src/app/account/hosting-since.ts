import { Refusal } from '../../domain/errors.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { FindHosting, HostingApi } from '../hosting-api.ts';
import type { ApiKeys, HeldKey } from './ports.ts';

/**
 * The client of the workspace's account for something that was confirmed at that time, outside of a request. With a
 * key that was set later it would be paid, deleted or judged by what may be another account.
 * @throws Refusal `no_api_key`, `account_changed`
 */
export async function getHostingSince(
  workspaceId: WorkspaceId,
  confirmedAt: number,
  { apiKeys, hostingOf }: { readonly apiKeys: Pick<ApiKeys, 'find'>; readonly hostingOf: FindHosting },
): Promise<HostingApi> {
  const held = await apiKeys.find(workspaceId);
  if (!held) throw new Refusal('no_api_key', {});
  if (isReconnectedSince(held, confirmedAt)) throw new Refusal('account_changed', {});
  return hostingOf(held.key);
}

/** Whether the key may be another account's than the one of that time; a new key of the same account can't be told apart. */
export function isReconnectedSince({ setAt }: Pick<HeldKey, 'setAt'>, confirmedAt: number): boolean {
  return setAt >= confirmedAt;
}
