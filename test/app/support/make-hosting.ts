import type { Server, ServerList } from '../../../src/core/server.ts';
import type { HostingApi } from '../../../src/hosting/hosting-api.ts';

const unexpected = async () => {
  throw new Error('this call of the hosting API was not expected');
};

/** These are all servers of the account. */
export function wholeList(servers: readonly Server[]): ServerList {
  return { servers, extent: 'whole', unreadableCount: 0 };
}

/** A hosting API with only the methods that a test expects to be called. */
export function makeHosting(answers: Partial<HostingApi>): HostingApi {
  return {
    account: ['account'],
    fetchCatalog: unexpected,
    fetchServers: unexpected,
    createServer: unexpected,
    renewServer: unexpected,
    changePower: unexpected,
    deleteServer: unexpected,
    budget: () => ({ taken: 0, limit: 300, waiting: 0 }),
    ...answers,
  };
}
