import type { AppContext, Store } from '../../src/context.ts';
import { createTurns } from '../../src/core/promises.ts';
import type { Server, ServerList } from '../../src/core/server.ts';
import { createJobs } from '../../src/db/jobs.ts';
import { createLastLists } from '../../src/home/read-home.ts';
import type { HostingApi } from '../../src/hosting/hosting-api.ts';
import { silentLog } from '../../src/log.ts';
import { SEND_WITHIN_MS } from '../../src/purchases/operation.ts';
import type { SlackUser } from '../../src/slack/directory.ts';
import { stillSystem } from '../db/fixtures.ts';

/** What is known of Slack before the app has asked it anything. */
/** A user of Slack as most are. */
export const MEMBER: SlackUser = {
  isAdmin: false,
  isGuest: false,
  isBot: false,
  isDeactivated: false,
  isStranger: false,
  teamIds: ['T1'],
};

/** The context of an app over a store, with a Slack that knows no user and accepts every message; a test overrides what it is about. */
export function makeContext(store: Store, more: Partial<AppContext> = {}): AppContext {
  return {
    ...store,
    system: stillSystem,
    log: silentLog,
    // Every stored workspace is served.
    installations: { isServed: async (id) => (await store.workspaces.find(id)) !== undefined },
    users: { find: async () => undefined, exists: async () => 'unknown' },
    groups: { list: async () => undefined, listMembers: async () => undefined },
    admins: { list: async () => undefined },
    channels: {
      look: async () => undefined,
      isShared: async () => undefined,
      hasMember: async () => undefined,
    },
    postOnce: async (_workspaceId, channelId) => ({ kind: 'posted', card: { channelId, ts: '1.0' } }),
    setupProblems: { watch: () => undefined, read: () => [] },
    operationNotifier: {
      notify: async () => true,
      announceStart: () => undefined,
      notifyLowBalance: async () => undefined,
      notifyQueued: async () => undefined,
      notifyUnsaved: async () => undefined,
    },
    deleteNotifier: { notify: async () => true, notifyUnsaved: async () => undefined },
    followNotifier: {
      update: async () => ({ kind: 'shown' }),
      notifyActor: async () => true,
      notifyCreator: async () => true,
    },
    requestNotifier: {
      postCards: async () => [],
      updateCards: async () => true,
      notifyRequester: async () => true,
    },
    accountNotifier: { notifyConnected: async () => undefined, notifyKeyChange: async () => undefined },
    reminderNotifier: {
      prepare: () => async () => ({ kind: 'refused', reason: 'not_in_channel' }),
      postUnreadable: async () => ({ kind: 'refused', reason: 'not_in_channel' }),
      update: async () => undefined,
      notifyUndelivered: async () => undefined,
    },
    batchNotifier: { notifyBatch: async () => true },
    workflowNotifier: {
      ask: async () => ({ reason: 'not_in_channel' }),
      end: async () => 'told',
      tell: async () => undefined,
    },
    takeTurn: createTurns(more.system ?? stillSystem, SEND_WITHIN_MS),
    jobs: createJobs(store.jobStore, more.system ?? stillSystem, silentLog),
    hostingOf: () => {
      throw new Error('no hosting API in these tests');
    },
    lastLists: createLastLists(),
    ownersOf: () => [],
    settings: { unconfirmedMs: 1, passwordHoldMs: 1, auditKeepDays: undefined },
    ...more,
  };
}

const unexpected = async () => {
  throw new Error('this call to the hosting API was not expected');
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
