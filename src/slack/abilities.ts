import { LRUCache } from 'lru-cache';
import type { Channels } from '../access/grants.ts';
import type { ChannelId, UserId, WorkspaceId } from '../core/ids.ts';
import { HOUR_MS } from '../core/time.ts';
import type { System } from '../system.ts';
import { textMessage } from './kit/blocks.ts';
import { mention } from './kit/text.ts';
import type { SeenAnswer, SlackClients } from './slack-api.ts';

/** What the app does in Slack besides answering users, if its setup allows it. */
export const SLACK_ABILITIES = [
  'direct_messages',
  'announcements',
  'user_lookups',
  'group_lookups',
  'channel_lookups',
] as const;
export type SlackAbility = (typeof SLACK_ABILITIES)[number];

/** Why Slack refuses an ability; `error` is Slack's code. */
export type SlackProblem =
  | { readonly code: 'messages_tab_disabled' }
  | { readonly code: 'missing_scope'; readonly scopes: readonly string[] }
  | { readonly code: 'token_refused'; readonly error: string }
  | { readonly code: 'restricted'; readonly error: string };

/** Slack's last answer about an ability; `untried` if there was none in the past hour. */
export type SeenAbility = 'works' | 'untried' | SlackProblem;

/** Slack's last answers about all abilities. */
export type SeenAbilities = Readonly<Record<SlackAbility, SeenAbility>>;

/** How long an observation counts: Slack doesn't say when the app's setup changes. */
const KNOWN_FOR_MS = HOUR_MS;

/** How many observations are kept: room for five abilities in each of a thousand workspaces. */
const MOST_OBSERVATIONS = 5000;

interface Observation {
  readonly state: 'works' | SlackProblem;
  readonly at: number;
  readonly channelId: string | undefined;
}

export type SlackAbilities = ReturnType<typeof createSlackAbilities>;

/** Learns from Slack's answers what Slack allows the app to do. In memory only. */
export function createSlackAbilities(system: System) {
  const observed = new LRUCache<string, Observation>({
    maxSize: MOST_OBSERVATIONS,
    sizeCalculation: () => 1,
  });
  const recent = (key: string): Observation | undefined => {
    const known = observed.get(key);
    return known && system.elapsed() - known.at < KNOWN_FOR_MS ? known : undefined;
  };
  return {
    /** Notes an answer. */
    watch: (workspaceId: WorkspaceId, seen: SeenAnswer): void => {
      const ability = abilityOf(seen);
      const state = ability && stateOf(ability, seen);
      if (state === undefined) return;
      const key = `${workspaceId} ${ability}`;
      if (ability === 'channel_lookups' && hidesProblem(recent(key), state, seen)) return;
      observed.set(key, { state, at: system.elapsed(), channelId: seen.channelId });
    },
    /** Returns what Slack was seen to allow in a workspace. */
    read: (workspaceId: WorkspaceId): SeenAbilities => {
      const see = (ability: SlackAbility) => recent(`${workspaceId} ${ability}`)?.state ?? 'untried';
      return Object.fromEntries(SLACK_ABILITIES.map((ability) => [ability, see(ability)])) as SeenAbilities;
    },
  };
}

/** Whether a success must not replace a known problem: public and private channels take a scope each. */
function hidesProblem(known: Observation | undefined, state: Observation['state'], seen: SeenAnswer) {
  return (
    known !== undefined && known.state !== 'works' && state === 'works' && known.channelId !== seen.channelId
  );
}

/** Returns the ability that an answer says something about. */
function abilityOf({ method, channelId = '', isAnnouncement }: SeenAnswer): SlackAbility | undefined {
  if (method === 'users.info') return 'user_lookups';
  if (method === 'usergroups.list') return 'group_lookups';
  if (method === 'conversations.info') return isChannel(channelId) ? 'channel_lookups' : undefined;
  if (method === 'response_url') return isAnnouncement ? 'announcements' : undefined;
  if (method.startsWith('chat.post') && /^[UWD]/.test(channelId)) return 'direct_messages';
  return method === 'chat.postMessage' && isChannel(channelId) ? 'announcements' : undefined;
}

const isChannel = (id: string) => /^[CG]/.test(id);

/** Reads an answer as the state of an ability; undefined if it says nothing about the app's setup, as in a short outage. */
function stateOf(
  ability: SlackAbility,
  { error, neededScope = '' }: SeenAnswer,
): Observation['state'] | undefined {
  if (error === undefined) return 'works';
  if (error === 'messages_tab_disabled') return { code: error };
  if (error === 'missing_scope') return { code: error, scopes: missingScopes(ability, neededScope) };
  if (isTokenRefused(error)) return { code: 'token_refused', error };
  return RESTRICTIONS.includes(error) ? { code: 'restricted', error } : undefined;
}

/** Lists the missing scopes of the manifest: Slack may also name others that would do as well. */
function missingScopes(ability: SlackAbility, needed: string): readonly string[] {
  const scopes = SCOPES_OF[ability];
  const named = scopes.filter((scope) => needed.split(',').includes(scope));
  return named.length === 0 ? scopes : named;
}

const SCOPES_OF: Readonly<Record<SlackAbility, readonly string[]>> = {
  direct_messages: ['chat:write'],
  announcements: ['chat:write'],
  user_lookups: ['users:read'],
  group_lookups: ['usergroups:read'],
  channel_lookups: ['channels:read', 'groups:read'],
};

/** Slack's codes for what admins don't allow the app, whatever its scopes. */
const RESTRICTIONS: readonly string[] = [
  'access_denied',
  'accesslimited',
  'ekm_access_denied',
  'enterprise_is_restricted',
  'no_permission',
  'not_allowed_token_type',
  'restricted_action',
  'team_access_not_granted',
  'two_factor_setup_required',
];

/** Slack's codes for a token that it refuses permanently. */
const TOKEN_ERRORS = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'];

/** Whether an error code means that Slack refuses the token itself. */
export function isTokenRefused(error: string | undefined): boolean {
  return error !== undefined && TOKEN_ERRORS.includes(error);
}

/** Whether Slack refuses all direct messages of the app, because its Messages tab is off. */
export function lacksMessagesTab({ direct_messages }: SeenAbilities): boolean {
  return typeof direct_messages === 'object' && direct_messages.code === 'messages_tab_disabled';
}

/** The purpose of a chosen channel. */
export type ChannelPurpose = 'approvals' | 'digest';

const RECEIVED: Readonly<Record<ChannelPurpose, string>> = {
  approvals: 'approval requests',
  digest: 'the daily digest',
};

export type ChannelTest = ReturnType<typeof createChannelTest>;

/** Tests whether the app can post to a channel. */
export function createChannelTest(clients: SlackClients, channels: Channels) {
  return {
    /** Posts a message that says why, unless other organizations could read it. `reason`: Slack's error code. */
    post: async (
      workspaceId: WorkspaceId,
      channelId: ChannelId,
      requestedBy: UserId,
      purpose: ChannelPurpose,
    ): Promise<{ readonly isPosted: true } | { readonly isPosted: false; readonly reason: string }> => {
      const isShared = await channels.isShared(workspaceId, channelId);
      if (isShared) return { isPosted: false, reason: 'channel_is_shared' };
      if (isShared === undefined) {
        const isHidden = (await channels.look(workspaceId, channelId)) === 'unknown';
        return { isPosted: false, reason: isHidden ? 'channel_not_found' : 'channel_unreadable' };
      }
      const words = `${mention(requestedBy)} set this channel for ${RECEIVED[purpose]}.`;
      const posted = await clients.of(workspaceId).post(channelId, textMessage(words));
      return posted.ok ? { isPosted: true } : { isPosted: false, reason: posted.error };
    },
  };
}
