import type { Secret } from '../../src/core/secret.ts';
import type { Server } from '../../src/core/server.ts';
import type { CallOptions, HostingApi } from '../../src/hosting/hosting-api.ts';
import { TEAM } from '../../src/sandbox/slack/workspace.ts';
import type { Team } from './team.ts';

/** From now on the hosting API's answers are these, whatever the account holds, until what it returns is called. */
export function showOtherwise(
  { app }: Team,
  change: (hosting: HostingApi) => Partial<HostingApi>,
): () => void {
  const { hostingOf } = app.ports;
  Object.assign(app.ports, {
    hostingOf: (key: Secret<string>) => {
      const hosting = hostingOf(key, TEAM.id);
      return { ...hosting, ...change(hosting) };
    },
  });
  return () => void Object.assign(app.ports, { hostingOf });
}

/** From now on each listed server has these fields; or only in the lists that are read so. */
export const showServersAs = (
  team: Team,
  fields: Partial<Server>,
  isMeant: (options: CallOptions) => boolean = () => true,
) =>
  showOtherwise(team, (hosting) => ({
    fetchServers: async (options = {}) => {
      const list = await hosting.fetchServers(options);
      if (!isMeant(options)) return list;
      return { ...list, servers: list.servers.map((server) => ({ ...server, ...fields })) };
    },
  }));
