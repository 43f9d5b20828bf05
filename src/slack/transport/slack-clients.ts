import { LRUCache } from 'lru-cache';
import type { Installations } from '../../app/authorize/ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { BotToken, SeenAnswer, SlackApi, SlackConnections } from './slack-api.ts';
import { stampedApi } from './stamped-api.ts';

/** Where the bot tokens come from. Only a workspace that has one is served. */
export interface TokenSource extends Installations {
  /** Undefined where the app is not installed. */
  find(workspaceId: WorkspaceId): Promise<BotToken | undefined>;
  /** Whether the app is installed for the whole organization there; absent where it never is. */
  isOfOrganization?(workspaceId: WorkspaceId): Promise<boolean>;
}

/** Slack's Web API, as the app of each workspace may use it. */
export interface SlackClients {
  of(workspaceId: WorkspaceId): SlackApi;
}

/** A client holds no connection, so making one again costs nothing but a token lookup. */
const MOST_CLIENTS = 1000;

/** Makes a client for each workspace when it is first needed. */
export function createSlackClients(
  connections: Pick<SlackConnections, 'open'>,
  tokens: Pick<TokenSource, 'find' | 'isOfOrganization'>,
  watch: (workspaceId: WorkspaceId, seen: SeenAnswer) => void = () => undefined,
): SlackClients {
  const clients = new LRUCache<WorkspaceId, SlackApi>({ max: MOST_CLIENTS });
  return {
    of: (workspaceId) => {
      const known = clients.get(workspaceId);
      if (known) return known;
      const opened = connections.open(
        () => tokens.find(workspaceId),
        (seen) => watch(workspaceId, seen),
      );
      const { isOfOrganization } = tokens;
      const client = isOfOrganization
        ? stampedApi(opened, workspaceId, () => isOfOrganization(workspaceId))
        : opened;
      clients.set(workspaceId, client);
      return client;
    },
  };
}
