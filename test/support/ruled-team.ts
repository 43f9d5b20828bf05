import { money } from '../../src/core/money.ts';
import { DEFAULT_SETTINGS, type WorkspaceSettings } from '../../src/core/settings.ts';
import { TEAM, USERS } from '../../src/sandbox/slack/workspace.ts';
import { startTeam, type Team, type TeamOptions } from './team.ts';

/** Everything needs a second person's approval. */
export const TWO_PERSONS: WorkspaceSettings = {
  ...DEFAULT_SETTINGS,
  approval: { delete: true, renew: true, createAbove: money(0) },
};

/** The manager, who requests, and the owner, who approves, each in the channel that they watch. */
export interface RuledTeam extends Team {
  readonly manager: ReturnType<Team['slack']['as']>;
  readonly owner: ReturnType<Team['slack']['as']>;
  setSettings(settings: WorkspaceSettings): Promise<void>;
  /** The manager confirms a create, and the owner has the card. */
  askCreate(label?: string): Promise<void>;
  creates(): number;
  charges(): number;
  labels(): readonly string[];
  /** Who did what with which outcome, oldest first. */
  listAudit(): Promise<readonly string[]>;
}

/** Starts a team whose owner has changed some settings. */
export async function startRuledTeam(
  settings: WorkspaceSettings = TWO_PERSONS,
  options: TeamOptions = {},
): Promise<RuledTeam> {
  const team = await startTeam(options);
  const manager = team.slack.as('mara').in('#ops');
  const owner = team.slack.as('olga').in('dm');
  const setSettings = async (wanted: WorkspaceSettings) => {
    const { workspaces } = team.app.ports;
    const was = (await workspaces.find(TEAM.id))?.settings ?? DEFAULT_SETTINGS;
    if (!(await workspaces.changeSettings(TEAM.id, was, wanted))) throw new Error('settings have moved');
  };
  await setSettings(settings);
  return Object.assign(team, {
    manager,
    owner,
    setSettings,
    askCreate: async (label = 'web-1') => {
      await manager.types(`/vps create plan=small location=ams image=debian-13 label=${label}`);
      await manager.presses('Request approval');
      await manager.sees('Waiting for another manager');
      await owner.sees(`wants to create ${label}`);
    },
    creates: () => team.hosting.requests({ operation: 'create' }).length,
    charges: () => team.hosting.charges(team.account).length,
    labels: () => team.hosting.listServers(team.account).map(({ label }) => label),
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
  await team.manager.types('/vps delete web-1');
  await team.manager.sees('To confirm, type web-1');
  await team.manager.fills({ 'To confirm, type web-1': 'web-1' });
  await team.manager.presses('Request approval');
  await team.manager.sees('Waiting for another manager');
  await team.owner.sees('wants to delete web-1');
}
