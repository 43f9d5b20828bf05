import { isRefusal, Refusal } from '../../domain/errors.ts';
import type { Operation } from '../../domain/operation.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { AppContext } from '../ports.ts';

/** What was confirmed under a key: an operation, or an approval. */
type Confirmed = Pick<Operation, 'workspaceId' | 'keyGeneration'>;

/**
 * The client of the account that something was confirmed for: with another key it would be paid or deleted in what may be
 * another account. No clock decides: the key is the same if it has not been set or removed since.
 * @throws Refusal `no_api_key`, `account_changed`
 */
export async function getHostingOf(
  { workspaceId, keyGeneration }: Confirmed,
  { apiKeys, hostingOf }: AppContext,
): Promise<HostingApi> {
  const held = await apiKeys.find(workspaceId);
  if (!held) throw new Refusal('no_api_key', {});
  if (held.generation !== keyGeneration) throw new Refusal('account_changed', {});
  return hostingOf(held.key, workspaceId);
}

/** The account in which an operation that was sent can be looked for. */
export type SearchedAccount =
  | { readonly kind: 'none' }
  /** `other`: the key was replaced since, and what is, or is not, in its account proves nothing. */
  | { readonly kind: 'same' | 'other'; readonly hosting: HostingApi };

/** Finds it. A key that was removed and set again is the same account as before, and so is one that was proven to open it. */
export async function findSearchedAccount(
  { workspaceId, keyGeneration, account }: Confirmed & Pick<Operation, 'account'>,
  { apiKeys, hostingOf, accounts }: AppContext,
): Promise<SearchedAccount> {
  const held = await apiKeys.find(workspaceId).catch((error: unknown) => {
    if (isRefusal(error, 'key_unreadable')) return undefined;
    throw error;
  });
  if (!held) return { kind: 'none' };
  const hosting = hostingOf(held.key, workspaceId);
  const isSame =
    held.generation === keyGeneration ||
    (account !== undefined && (await accounts.find(account)) === (await accounts.find(hosting.account)));
  return { kind: isSame ? 'same' : 'other', hosting };
}
