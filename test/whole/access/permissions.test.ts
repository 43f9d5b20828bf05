import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../src/commands.ts';
import { ROLES, type Role, roleCovers } from '../../../src/core/roles.ts';
import { DAY_MS } from '../../../src/core/time.ts';
import { home } from '../../../src/home/home.ts';
import { HostingClock } from '../../../src/sandbox/hosting/clock.ts';
import { OTHER_BOT, USERS, type UserName } from '../../../src/sandbox/slack/workspace.ts';
import { shortcuts } from '../../../src/servers/card.ts';
import { until } from '../../support/eventually.ts';
import { changesSeen, type RawUser, rawUser } from '../../support/raw-user.ts';
import { ACTIONS, type Action } from '../../support/surfaces.ts';
import { grantRole, startTeam } from '../../support/team.ts';
import { isLong } from '../../support/tries.ts';

const REFUSED = /You need the \*?\w+\*? role|another organization/;

interface Sender {
  readonly who: UserName;
  readonly role?: Role;
}

function isAllowed(action: Action, { who, role }: Sender): boolean {
  // Slack itself keeps commands from other organizations: only what needs no role answers one.
  if (who === 'sam') return action.audit === '' || (action.via === 'command' && action.needs === 'anyone');
  return action.needs === 'anyone' || roleCovers(role, action.needs);
}

/**
 * Whether the role is the lowest one that may, or the highest one that may not: the others follow from the order of roles, which
 * `test/core/access.test.ts` holds. Users without a role try everything; the long form has every pair.
 */
function isAtEdge({ needs }: Action, { role }: Sender): boolean {
  if (isLong || role === undefined) return true;
  if (needs === 'anyone') return false;
  const distance = ROLES.indexOf(role) - ROLES.indexOf(needs);
  return distance === 0 || distance === -1;
}

/** One action of each kind, since every action passes the same check, which @nora tries with all; so does the long form. */
function chooseActions(actions: readonly Action[]): readonly Action[] {
  if (isLong) return actions;
  return [...new Map(actions.map((action) => [action.via, action])).values()];
}

/** What this sender tries of what they may do, or may not do. */
function actionsOf(sender: Sender, { allowed }: { readonly allowed: boolean }): readonly Action[] {
  const tried = ACTIONS.filter((each) => isAllowed(each, sender) === allowed && isAtEdge(each, sender));
  return sender.who === 'gus' || sender.who === 'sam' ? chooseActions(tried) : tried;
}

/** Sends the action and waits until the app has answered. */
async function send(action: Action, by: RawUser, serverId: number): Promise<string> {
  const before = by.mark();
  const repliesBefore = by.ephemeralMessages().length;
  const { status, response } = await action.send(by, serverId);
  expect(status).toBe(200);
  if (action.via === 'modal' || action.via === 'menu') return response;
  if (action.id === 'link') return '';
  await by.seesChange(before);
  if (action.via === 'shortcut') {
    await until(() => !by.modal().includes('Loading…'), 2);
    return by.modal();
  }
  const words = () => by.ephemeralMessages().slice(repliesBefore).join('\n');
  // On a busy machine, the ack may come before the answer.
  await until(() => !/^Working on it\b.*$/.test(words()), 5);
  return words();
}

async function expectRefused(action: Action, by: RawUser, serverId: number): Promise<void> {
  const newest = await newestOf(by);
  const words = await send(action, by, serverId);
  await until(async () => (await newestOf(by)) !== newest, 5);
  // One more than there may be.
  const entries = await by.audit(3);
  const before = entries.findIndex(({ id }) => id === newest);
  expect(
    entries.slice(0, before === -1 ? entries.length : before).map((entry) => entry.action),
    `${action.via} ${action.id}`,
  ).toEqual([action.audit]);
  expect(entries[0], `${action.via} ${action.id}`).toMatchObject({ outcome: 'denied', action: action.audit });
  if (action.via === 'menu') expect(JSON.parse(words)).toEqual({ options: [] });
  else expect(words, `${action.via} ${action.id}`).toMatch(REFUSED);
}

async function newestOf(by: RawUser): Promise<string | undefined> {
  const [entry] = await by.audit(1);
  return entry?.id;
}

/** Hundreds of acts in a few seconds, each with answers and announcements: Slack would take minutes. */
const startWithServers = (servers: number) =>
  startTeam({ servers, balanceMinor: 10_000_000, hasRateLimits: false });

const PANEL: Action = {
  via: 'command',
  id: 'panel',
  needs: 'anyone',
  audit: 'panel',
  send: (by) => by.command(''),
};
const ALERT: Action = {
  via: 'shortcut',
  id: 'manage_server',
  needs: 'viewer',
  audit: 'show',
  send: (by) => by.uses('message_action', 'manage_server', 'web-1, web-2 and secret-1 are down'),
};

const SENDERS: readonly Sender[] = [
  { who: 'olga', role: 'owner' },
  { who: 'mara', role: 'manager' },
  { who: 'otto', role: 'operator' },
  { who: 'vera', role: 'viewer' },
  { who: 'nora' },
  { who: 'gus' },
  { who: 'sam' },
];

describe('every command, button, form and menu', () => {
  it('is in the table of this test', () => {
    const idsVia = (via: Action['via']) => [
      ...new Set(ACTIONS.filter((action) => action.via === via).map(({ id }) => id)),
    ];
    const all = <Kind>(pick: (command: typeof home) => readonly Kind[]) => [...commands, home].flatMap(pick);
    expect(idsVia('command').sort()).toEqual(commands.map(({ name }) => name).sort());
    expect(idsVia('action').sort()).toEqual(all(({ actions }) => actions.map(({ id }) => id)).sort());
    expect(idsVia('shortcut').sort()).toEqual(shortcuts.map(({ id }) => id).sort());
    expect(idsVia('modal').sort()).toEqual(all(({ modals }) => modals.map(({ id }) => id)).sort());
    expect(idsVia('menu').sort()).toEqual(all(({ suggestions }) => suggestions.map(({ id }) => id)).sort());
  });

  it('is in docs/surfaces.md, with the role that it needs, unless it is a command, which the README has', () => {
    const rows = readFileSync('docs/surfaces.md', 'utf8').matchAll(/^\| (\w+) \| `([^`]+)` \| (\w+) \|/gm);
    const written = [...rows].map(([, via, id, needs]) => `${via} ${id}: ${needs}`);
    const listed = ACTIONS.filter(({ via }) => via !== 'command');
    const found = new Set(listed.map(({ via, id, needs }) => `${via} ${id}: ${needs}`));
    expect(written.sort()).toEqual([...found].sort());
  });

  it('refuses users without the required role before anything is sent, with an explanation and an audit entry', async () => {
    await using team = await startWithServers(1);
    const [id = 0] = team.serverIds;
    let refused = 0;
    for (const sender of SENDERS) {
      const by = rawUser(team, sender.who);
      for (const action of actionsOf(sender, { allowed: false })) {
        await expectRefused(action, by, id);
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(100);
    expect(team.hosting.requests()).toEqual([]);
    expect(team.hosting.charges(team.account)).toEqual([]);
  });

  it('shows nothing of a server to a user whose role is for others', async () => {
    // So that reminders about the servers are due.
    const clock = new HostingClock(() => Date.now() - 28 * DAY_MS);
    await using team = await startTeam({ servers: 2, hasRateLimits: false, hosting: { clock } });
    const [secretId = 0] = team.hosting.seedServers(team.account, 1, 'secret');
    // Not in #ops, where others may read it.
    const manager = team.slack.as('mara').in('dm');
    await manager.types('/vps note secret-1 the payroll');
    await manager.sees('the payroll');
    await grantRole(team, USERS.nora.id, 'manager', { pattern: 'web-*' });
    const by = rawUser(team, 'nora');
    const nora = team.slack.as('nora').in('#ops');
    const seen = (words: string) => `${words}${by.modal()}${by.mark()}${nora.home()?.shown}`;
    for (const action of [...ACTIONS, PANEL, ALERT]) {
      const words = await send(action, by, secretId);
      await until(() => !by.modal().includes('Loading…'), 5);
      expect(seen(words), `${action.via} ${action.id}`).not.toMatch(/secret-1|payroll/);
    }
    await nora.opensHome();
    await until(() => nora.home() !== undefined, 5);
    expect(seen('')).not.toMatch(/secret-1|payroll/);
    expect(changesSeen(team).filter(({ path }) => path.includes(String(secretId)))).toEqual([]);
  });

  it('is allowed to users with the required role', async () => {
    await using team = await startWithServers(isLong ? 800 : 200);
    const ids = team.serverIds;
    await grantRole(team, USERS.gus.id, 'operator');
    const withGuest = SENDERS.map((sender) =>
      sender.who === 'gus' ? { ...sender, role: ROLES[1] } : sender,
    );
    let used = 0;
    const toDisconnect: (() => Promise<unknown>)[] = [];
    for (const sender of withGuest) {
      const by = rawUser(team, sender.who);
      for (const action of actionsOf(sender, { allowed: true })) {
        const serverId = ids[used++] ?? 0;
        const attempt = async () => expect(await send(action, by, serverId), action.id).not.toMatch(REFUSED);
        if (action.id === 'disconnect') toDisconnect.push(attempt);
        else await attempt();
      }
    }
    for (const attempt of toDisconnect) await attempt();
    expect(used).toBeLessThanOrEqual(ids.length);
    for (const { who } of withGuest) {
      const entries = await rawUser(team, who).audit();
      expect(entries.filter(({ outcome }) => outcome === 'denied')).toEqual([]);
    }
  });
});

it('a role through a group allows nothing to bots and deactivated users', async () => {
  await using team = await startWithServers(1);
  const [id = 0] = team.serverIds;
  await grantRole(team, 'S0ONCALL01', 'owner', { subjectKind: 'group' });
  const tried = chooseActions(ACTIONS.filter(({ needs }) => needs !== 'anyone'));
  for (const who of [USERS.finn, OTHER_BOT]) team.slack.admin.group('oncall').users.add(who.id);
  for (const who of [USERS.finn, OTHER_BOT]) {
    const by = rawUser(team, who, 'nora');
    for (const action of tried) {
      const newest = await newestOf(by);
      await action.send(by, id);
      await until(async () => (await newestOf(by)) !== newest, 5);
      expect((await by.audit(1))[0], action.id).toMatchObject({ outcome: 'denied', code: 'role_needed' });
    }
  }
  expect(team.hosting.requests()).toEqual([]);
});
