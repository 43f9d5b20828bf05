import type { NewGrant } from '../../../../src/app/access/grants-port.ts';
import { createEntry } from '../../../../src/app/authorize/entry.ts';
import { eraseLeftPassword } from '../../../../src/app/purchases/erase-left-password.ts';
import { showPassword } from '../../../../src/app/purchases/show-password.ts';
import type { Surface } from '../../../../src/domain/audit-entry.ts';
import { createChannels } from '../../../../src/slack/directory/channels.ts';
import { createGroups } from '../../../../src/slack/directory/groups.ts';
import { createUsers } from '../../../../src/slack/directory/users.ts';
import { handClock } from '../../../slack/support/hand-clock.ts';
import { clientsOf } from '../../../slack/support/partial-slack.ts';
import { newGrant, open, T0, vault } from '../../../store/support.ts';
import { makePorts } from '../../support/make-ports.ts';
import { holdPassword } from './held-password.ts';

export const OWNER = 'UOWNER';
export const CREATOR = 'UCREATOR';
export const GROUP = 'S0ONCALL01';
export const CHANNEL = 'C0OPS00001';

type RawUser = Readonly<Record<string, unknown>>;

/** What Slack says; a text is an error. Changed by a test at any time. */
interface SlackState {
  readonly users: Map<string, RawUser | string>;
  groups: readonly string[] | string;
  members: readonly string[] | string;
}

const ok = <Answer extends object>(answer: Answer) => ({ ok: true as const, ...answer });
const failed = (error: string) => ({ ok: false as const, error });

/** Slack's answers go through the app's own directory, with its caches; its clock stands still. */
function directoryOf(slack: SlackState, asked: string[]) {
  const { system } = handClock();
  const clients = clientsOf({
    findUser: async (id) => {
      asked.push(id);
      const user = slack.users.get(id) ?? 'user_not_found';
      return typeof user === 'string' ? failed(user) : ok({ user: { id, team_id: 'T1', ...user } });
    },
    listGroups: async () => {
      const { groups: users } = slack;
      return typeof users === 'string'
        ? failed(users)
        : ok({ groups: [{ id: GROUP, handle: 'oncall', users }] });
    },
    findChannel: async (id) => ok({ channel: { id, is_ext_shared: false } }),
    listMembers: async () => {
      const { members } = slack;
      return typeof members === 'string' ? failed(members) : ok({ members, cursor: '' });
    },
  });
  return {
    users: createUsers(clients, system),
    groups: createGroups(clients, system),
    channels: createChannels(clients, system),
  };
}

/** A workspace in which UCREATOR created web-1 as a manager, and in which UOWNER is an owner. */
export async function startLeftTeam() {
  const opened: string[] = [];
  const counting = {
    ...vault,
    open: (...[token, place]: Parameters<typeof vault.open>) => {
      opened.push(place.table);
      return vault.open(token, place);
    },
  };
  const store = await open('sqlite::memory:', { vault: counting });
  await store.workspaces.put({ id: 'T1', name: 'Acme' }, T0);
  const held = await holdPassword(store, { creatorId: CREATOR, label: 'web-1', serverId: 7 });
  const slack: SlackState = { users: new Map(), groups: [], members: [] };
  for (const id of [OWNER, CREATOR]) slack.users.set(id, {});
  const asked: string[] = [];
  const ports = makePorts(store, directoryOf(slack, asked));
  const entry = createEntry(ports);
  const callerOf = (userId: string, surface: Surface) => ({
    actor: { workspaceId: 'T1', userId, channelId: CHANNEL },
    surface,
  });
  const grant = (more: Partial<NewGrant>) => store.grants.put(newGrant(more));
  const ofCreator = { subjectKind: 'user', subjectId: CREATOR } as const;
  await grant({ subjectKind: 'user', subjectId: OWNER, role: 'owner' });
  await grant({ ...ofCreator, role: 'manager' });
  return {
    store,
    slack,
    ports,
    held,
    /** The tables of the sealed values that were opened. */
    opened,
    /** The users whom Slack was asked about. */
    asked,
    grant,
    revoke: () => store.grants.removeAll('T1', ofCreator),
    /** What the refusal says to a user who types the name; the password is theirs to see if there is none. */
    look: (userId = OWNER, typed = 'web-1') =>
      entry
        .execute(showPassword, { ref: { typed }, show: async () => true }, callerOf(userId, 'command'))
        .catch((error: unknown) => error),
    press: (userId = OWNER, operationId = held.operationId) =>
      entry.execute(eraseLeftPassword, { operationId }, callerOf(userId, 'button')),
    isHeld: async () => (await store.passwords.listHeld('T1')).length > 0,
    audited: () => store.audit.list({ workspaceId: 'T1', actions: ['password_discard'], limit: 100 }),
  };
}

export type LeftTeam = Awaited<ReturnType<typeof startLeftTeam>>;
