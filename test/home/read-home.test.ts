import { beforeEach, describe, expect, test } from 'vitest';
import type { AppContext, Store } from '../../src/context.ts';
import type { Catalog } from '../../src/core/catalog.ts';
import { createEntry } from '../../src/core/entry.ts';
import { HostingError } from '../../src/core/errors.ts';
import { Secret } from '../../src/core/secret.ts';
import type { Server } from '../../src/core/server.ts';
import { DAY_MS } from '../../src/core/time.ts';
import { createLastLists, type Home, readHome } from '../../src/home/read-home.ts';
import type { HostingApi } from '../../src/hosting/hosting-api.ts';
import type { SlackUser } from '../../src/slack/directory.ts';
import {
  entry,
  newApproval,
  newCreate,
  newGrant,
  newRenew,
  newRoleRequest,
  open,
  T0,
} from '../db/support.ts';
import { MEMBER, makeContext, makeHosting, wholeList } from '../support/context.ts';

const catalog: Catalog = { plans: [], locations: [], images: [] };
const server = (id: number, label: string, more: Partial<Server> = {}): Server => ({
  ...{ id, label, state: 'running', paidUntil: T0 + 20 * DAY_MS },
  ...more,
});

let store: Store;
let lastLists = createLastLists();
beforeEach(async () => {
  lastLists = createLastLists();
  store = await open('sqlite::memory:');
  await store.workspaces.put({ id: 'T1', name: 'Team' });
  await store.apiKeys.put('T1', new Secret('key'), 'U1', T0);
});

const grant = (subjectId: string, role: 'viewer' | 'manager' | 'owner', pattern = '') =>
  store.grants.put(newGrant({ workspaceId: 'T1', subjectId, role, pattern }));

function read(userId: string, hosting: Partial<HostingApi>, ports: Partial<AppContext> = {}, input = {}) {
  const api = makeHosting({ fetchCatalog: async () => catalog, ...hosting });
  const app = createEntry(makeContext(store, { hostingOf: () => api, lastLists, ...ports }));
  const actor = { workspaceId: 'T1', userId };
  return app.execute(readHome, { page: 0, ...input }, { actor, surface: 'home' });
}

const listing = (...servers: readonly Server[]): Partial<HostingApi> => ({
  fetchServers: async () => wholeList(servers),
});
const labels = ({ servers }: Home) =>
  servers.kind === 'listed' ? servers.shown.map((each) => each.server.label) : servers.kind;

describe('the servers on Home', () => {
  test('come in the order of their urgency: paid time over, expiring, unsettled, with an unconfirmed order, then the rest', async () => {
    await grant('U1', 'viewer');
    await store.ledger.prepare(newRenew(4));
    const home = await read(
      'U1',
      listing(
        server(1, 'calm'),
        server(2, 'rebooting', { state: 'rebooting' }),
        server(3, 'in-5-days', { paidUntil: T0 + 5 * DAY_MS }),
        server(4, 'renewing'),
        server(5, 'in-2-days', { paidUntil: T0 + 2 * DAY_MS }),
        server(6, 'gone', { state: 'deleted', paidUntil: T0 - 5 * DAY_MS }),
        server(7, 'over', { paidUntil: T0 - 2 * DAY_MS }),
      ),
    );
    expect(labels(home)).toEqual(['over', 'in-2-days', 'in-5-days', 'rebooting', 'renewing', 'calm']);
    expect(home.servers).toMatchObject({ total: 6, urgent: 5, page: 0, pages: 1 });
    expect(home.servers).toMatchObject({ shown: [{ isExpiring: true }, {}, {}, {}, {}, {}] });
  });

  test('are those that were read last where the hosting API fails, unless that was with another key', async () => {
    await grant('U1', 'viewer');
    await read('U1', listing(server(1, 'web-1')));
    const error = new HostingError('no_answer', 'maybe');
    const failing: Partial<HostingApi> = { fetchServers: () => Promise.reject(error) };
    expect((await read('U1', failing)).servers).toMatchObject({ kind: 'listed', stale: error, total: 1 });
    expect((await read('U1', { ...failing, account: ['other'] })).servers).toEqual({ kind: 'unread', error });
  });
});

test('Home shows nothing any more when the role ended while the hosting API was answering', async () => {
  await grant('U1', 'viewer');
  const [held] = await store.grants.listFor('T1', { userId: 'U1' }, T0);
  const slow: Partial<HostingApi> = {
    fetchServers: async () => {
      await store.grants.remove('T1', { grantId: held?.id ?? '' });
      return wholeList([server(1, 'web-1')]);
    },
  };
  const users = { find: async () => undefined, exists: async () => 'hidden' as const };
  const home = await read('U1', slow, { users }, { isPatient: true });
  expect(home.servers).toEqual({ kind: 'no_role' });
  expect(JSON.stringify(home)).not.toContain('web-1');
});

describe('the rest of Home', () => {
  test('shows decisions to who may take them, requests to who made them, and passwords to who created', async () => {
    await grant('U1', 'manager');
    await grant('U2', 'manager', 'web-*');
    await grant('U3', 'viewer');
    await grant('U4', 'owner');
    await store.requests.requestApproval(newApproval({ requesterId: 'U1' }), entry());
    await store.requests.requestRole(newRoleRequest({ requesterId: 'U3' }), T0);
    const home = async (id: string) => {
      const { decisions, own } = await read(id, listing());
      return [decisions, own].map(({ approvals, access }) => `${approvals.length} ${access.length}`);
    };
    // Approvals and requests for a role: to decide, and their own.
    expect(await home('U1')).toEqual(['0 0', '1 0']);
    expect(await home('U2')).toEqual(['1 0', '0 0']);
    expect(await home('U3')).toEqual(['0 0', '0 1']);
    expect(await home('U4')).toEqual(['1 1', '0 0']);
  });

  test('of a user without a role has nothing but their own requests, and reads no server', async () => {
    await store.ledger.prepare(newCreate('web-9', { actorId: 'U7' }));
    const users = (found: SlackUser | undefined) => ({
      users: { find: async () => found, exists: async () => 'unknown' as const },
    });
    const bare = await read('U9', {}, users(MEMBER));
    expect(bare.servers).toEqual({ kind: 'no_role' });
    expect(bare).toMatchObject({ open: [], unsaved: [], decisions: { approvals: [], access: [] } });
    expect(bare.spending).toBeUndefined();
    // Without Slack's answer, "no role" would be a guess.
    expect((await read('U9', {})).servers).toEqual({ kind: 'role_unknown' });
    const outsider = read('U9', {}, users({ ...MEMBER, isStranger: true, teamIds: ['T9'] }));
    await expect(outsider).rejects.toMatchObject({ code: 'other_organization' });
  });
});
