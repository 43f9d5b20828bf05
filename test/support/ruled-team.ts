import { money } from '../../src/core/money.ts';
import { DEFAULT_SETTINGS, type DigestSettings, type WorkspaceSettings } from '../../src/core/settings.ts';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { APPROVALS, labelOfAction } from '../../src/requests/request.ts';
import { HostingClock } from '../../src/sandbox/hosting/clock.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { fillDelete, orderOf } from './acts.ts';
import { movableSystem } from './clocks.ts';
import { startTeam, type TeamOptions } from './team.ts';

/** Everything needs a second person's approval. */
export const TWO_PERSONS: WorkspaceSettings = {
  ...DEFAULT_SETTINGS,
  approval: { delete: true, renew: true, createAbove: money(0) },
};

export type RuledTeam = Awaited<ReturnType<typeof startRuledTeam>>;
export type DigestTeam = Awaited<ReturnType<typeof startDigestTeam>>;

/** Starts a team whose owner has changed some settings. */
export async function startRuledTeam(settings: WorkspaceSettings = TWO_PERSONS, options: TeamOptions = {}) {
  const team = await startTeam(options);
  const { manager } = team;
  const approver = team.slack.as('olga').in('dm');
  const setSettings = async (wanted: WorkspaceSettings) => {
    const { workspaces } = team.app.ports;
    const was = (await workspaces.find(TEAM.id))?.settings ?? DEFAULT_SETTINGS;
    if (!(await workspaces.changeSettings(TEAM.id, was, wanted))) throw new Error('settings have moved');
  };
  await setSettings(settings);
  return Object.assign(team, {
    /** The owner, in their conversation with the app, where they are asked to approve. */
    approver,
    setSettings,
    /** The manager confirms a create, and the owner has the card. */
    askCreate: async (label = 'web-1') => {
      await manager.types(orderOf(label));
      await manager.presses('Request approval');
      await manager.sees('Waiting for another manager');
      await approver.sees(`wants to create ${label}`);
    },
    creates: () => team.hosting.requests({ operation: 'create' }).length,
    charges: () => team.hosting.charges(team.account).length,
    renewals: () => team.hosting.requests({ operation: 'renew' }).length,
    labels: () => team.hosting.listServers(team.account).map(({ label }) => label),
    /** Who did what with which outcome, oldest first. */
    listAudit: async () => {
      const entries = await team.app.ports.audit.list({ workspaceId: TEAM.id, limit: 100 });
      const names = new Map<string, string>(Object.values(USERS).map(({ id, name }) => [id, name]));
      return entries
        .map(({ actorId, action, outcome, code }) =>
          [names.get(actorId) ?? actorId, action, outcome, code].filter(Boolean).join(' '),
        )
        .reverse();
    },
  });
}

/** The manager confirms the delete of web-1, and the owner has the card. */
export async function askDelete(team: RuledTeam): Promise<void> {
  await fillDelete(team.manager);
  await team.manager.presses('Request approval');
  await team.manager.sees('Waiting for another manager');
  await team.approver.sees('wants to delete web-1');
}

/** The manager confirms the renewal of a server, typed like this, and the owner has the card. */
export async function askRenew(team: RuledTeam, typed = 'web-1'): Promise<void> {
  await team.manager.types(`/vps renew ${typed}`);
  await team.manager.presses('Request approval');
  await team.manager.sees('Waiting for another manager');
  await team.approver.sees('wants to renew');
}

/** The open request for approval that is about this server. */
export async function findApproval({ app }: RuledTeam, label = 'web-1') {
  const open = await app.ports.requests.listOpen(TEAM.id, APPROVALS);
  const approval = open.find((each) => labelOfAction(each) === label);
  if (!approval) throw new Error('nothing waits');
  return approval;
}

const DIGEST: DigestSettings = {
  channelId: 'C0OPS00001',
  hour: 9,
  zone: 'UTC',
  daysBefore: [7, 3, 1],
};

/** A team in which time can be moved, with a digest in #ops at nine; it starts at eight. */
export async function startDigestTeam(settings: Partial<WorkspaceSettings> = {}, options: TeamOptions = {}) {
  const system = movableSystem();
  const sinceMidnight = () => system.now() % DAY_MS;
  system.move(DAY_MS - sinceMidnight() + 8 * HOUR_MS);
  const team = await startRuledTeam(
    { ...DEFAULT_SETTINGS, digest: DIGEST, ...settings },
    { system, ...options, hosting: { clock: new HostingClock(system.now), ...options.hosting } },
  );
  return Object.assign(team, {
    system,
    /** Lets the time pass until that long after 09:00 (UTC) of a later day, when the digest of nine is due. */
    untilDigest: (days = 0) => {
      const ahead = 9 * HOUR_MS - sinceMidnight();
      system.move((ahead > 0 ? ahead : ahead + DAY_MS) + days * DAY_MS);
    },
    /** Messages in #ops that begin like a digest, oldest first. */
    digests: () =>
      team.viewer
        .messages()
        .filter(({ ephemeral, shown }) => !ephemeral && shown.includes('Daily digest'))
        .map(({ shown }) => shown),
    /** Renews on the hosting account's own page. */
    renewOutside: (id: number) => {
      team.hosting.servers.renew(team.account, String(id));
    },
    /** How often the list of servers was read. */
    listReads: () => team.hosting.requests({ operation: 'servers' }).length,
  });
}
