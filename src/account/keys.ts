import type { AppContext } from '../context.ts';
import { defineUseCase, type FollowUpContext, type UseCaseContext } from '../core/entry.ts';
import { type HostingCode, isRefusal, Refusal } from '../core/errors.ts';
import type { WorkspaceId } from '../core/ids.ts';
import { listOwners } from '../core/permission.ts';
import { type Actor, isCommandLine } from '../core/roles.ts';
import { Secret } from '../core/secret.ts';
import type { ServerList } from '../core/server.ts';
import type { HostingApi } from '../hosting/hosting-api.ts';
import type { Operation } from '../purchases/operation.ts';
import type { KeyChange } from './ports.ts';

/**
 * Tries the key with one read-only request and stores it, sealed, only if that worked. Returns the list of servers.
 * @throws HostingError `unauthorized` (wrong key), `not_allowed` (no top-up yet) and the others of a read
 */
export const connectKey = defineUseCase({
  name: 'connect',
  needs: 'owner',
  effect: 'changes',
  run: (input: { key: Secret<string> }, context): Promise<ServerList> => storeKey(input.key, context),
  follow: (_output, context) => notifyKeyChange('set', context),
});

/** Does what `connectKey` says, for the workspace that the actor acts in. */
export async function storeKey(
  key: Secret<string>,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<ServerList> {
  const list = await app.hostingOf(key, actor.workspaceId).fetchServers({ freshness: 'fresh' });
  // Counts as another key from here on: what was confirmed while it was tested was meant for the one before.
  await app.apiKeys.put(actor.workspaceId, key, actor.userId, app.system.now());
  return list;
}

/** Removes the workspace's API key. False when there was none. */
export const disconnectKey = defineUseCase({
  name: 'disconnect',
  needs: 'owner',
  effect: 'changes',
  run: async (_input: Record<never, never>, { actor, app }): Promise<boolean> =>
    app.apiKeys.remove(actor.workspaceId),
  follow: async (wasThere, context) => {
    if (wasThere) await notifyKeyChange('removed', context);
  },
});

/** The longest key that is taken; the document names no limit (docs/hosting-api.md 5). */
const LONGEST_KEY = 512;

/** What was pasted as a key: the key, or what is wrong with it. */
type PastedKey = { readonly key: Secret<string> } | { readonly wrong: 'too_long' | 'not_a_key' };

/** Trims what was pasted; a key has to fit into one header line. Never cuts: a part of a key would be another key. */
export function readKey(pasted: string): PastedKey {
  const key = pasted.trim();
  if (!/^[\x21-\x7e]+$/.test(key)) return { wrong: 'not_a_key' };
  return key.length > LONGEST_KEY ? { wrong: 'too_long' } : { key: new Secret(key) };
}

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
type SearchedAccount =
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

const ERROR = 'The hosting API returned an error, so the key wasn’t tested. Try again in a moment.';

/**
 * Why a key was not stored, for the user who enters it, on the connect page and on the command line: plain text, and a code
 * without words does not compile.
 */
export const KEY_FAILURES: Readonly<Record<HostingCode | 'unknown_code', string>> = {
  unauthorized:
    'The hosting API rejected this key. Check that you copied all of it, or create a new one and try again.',
  not_allowed:
    'The hosting API isn’t open for this account yet: it opens with the first top-up. Add funds on your hosting account’s page, then try again.',
  rate_limited: 'We’ve hit the hosting API’s rate limit, so the key wasn’t tested. Try again in a minute.',
  no_answer: 'The hosting API didn’t answer, so the key wasn’t tested. Try again in a moment.',
  not_sent: 'We couldn’t reach the hosting API, so the key wasn’t tested. Try again in a moment.',
  unreadable_answer:
    'The hosting API returned an answer we couldn’t read, so the key wasn’t tested. Try again in a moment.',
  unknown_code: 'The hosting API returned an unknown error, so the key wasn’t tested. Try again in a moment.',
  bad_request: ERROR,
  not_enough_balance: ERROR,
  limit: ERROR,
  not_created: ERROR,
  checking: ERROR,
  not_found: ERROR,
  wrong_state: ERROR,
};

/** What was entered can't be a key. */
export const WRONG_KEYS: Readonly<Record<Extract<PastedKey, { wrong: string }>['wrong'], string>> = {
  not_a_key:
    'That doesn’t look like an API key. It’s one line of letters, digits and symbols, without spaces.',
  too_long: `That’s too long for an API key: it can have ${LONGEST_KEY} characters at most. Nothing was stored. Copy the key alone and try again.`,
};

/**
 * Notifies the owners that the workspace's API key was set or removed, even by one of them: from now on, all orders go to that
 * account. The message goes to the approvals channel, or directly to them. The command line can't reach Slack.
 */
export async function notifyKeyChange(
  change: KeyChange['change'],
  { actor, app }: FollowUpContext,
): Promise<void> {
  const { workspaceId, userId: actorId } = actor;
  if (isCommandLine(actorId)) return;
  const userIds = await listOwners(workspaceId, app);
  const channelId = (await app.workspaces.find(workspaceId))?.settings.channelId;
  await app.accountNotifier.notifyKeyChange({ workspaceId, actorId, change }, { channelId, userIds });
}

/** Lists the workspaces that have an API key. @throws Refusal `other_workspace` from within a workspace */
export const listConnectedWorkspaces = defineUseCase({
  name: 'list_connected',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, app }): Promise<readonly WorkspaceId[]> => {
    requireEveryWorkspace(actor);
    return app.apiKeys.listWorkspaces();
  },
});

/** Lists the workspaces that have audit entries, or had. @throws Refusal `other_workspace` from within a workspace */
export const listAuditedWorkspaces = defineUseCase({
  name: 'list_audited',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, app }): Promise<readonly WorkspaceId[]> => {
    requireEveryWorkspace(actor);
    return app.audit.listWorkspaces();
  },
});

/**
 * Represents all workspaces of this installation. Only the command line can act on them together: the entry refuses every
 * other caller without a workspace.
 */
export const EVERY_WORKSPACE: WorkspaceId = '';

/** @throws Refusal `other_workspace` when the actor acts in a single workspace */
export function requireEveryWorkspace({ workspaceId }: Actor): void {
  if (workspaceId !== EVERY_WORKSPACE) throw new Refusal('other_workspace', {});
}
