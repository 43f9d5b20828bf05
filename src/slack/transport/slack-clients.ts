import { LRUCache } from 'lru-cache';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { Secret } from '../../domain/secret.ts';
import type { SlackApi, SlackConnections } from './slack-api.ts';

/** Where the bot token of a workspace comes from; undefined where the app is not installed. */
export interface TokenSource {
  find(workspaceId: WorkspaceId): Promise<Secret<string> | undefined>;
}

/** Slack's Web API, as the app of each workspace may use it. */
export interface SlackClients {
  of(workspaceId: WorkspaceId): SlackApi;
}

/** A client holds no connection, so making one again costs nothing but a token lookup. */
const MOST_CLIENTS = 1000;

/** Makes a client for each workspace when it is first needed. */
export function createSlackClients(connections: SlackConnections, tokens: TokenSource): SlackClients {
  const clients = new LRUCache<WorkspaceId, SlackApi>({ max: MOST_CLIENTS });
  return {
    of: (workspaceId) => {
      const known = clients.get(workspaceId);
      if (known) return known;
      const client = connections.open(() => tokens.find(workspaceId));
      clients.set(workspaceId, client);
      return client;
    },
  };
}
