import { ROLES_ASKED } from '../../../src/requests/request.ts';
import { TEAM, USERS } from '../../../src/sandbox/slack/workspace.ts';
import type { Team } from '../../support/team.ts';

export const grantsOf = ({ app }: Team) => app.ports.grants.list(TEAM.id);

/** The roles of @nora, who starts without one: "viewer web-*". */
export const rolesOf = async (team: Team) =>
  (await grantsOf(team))
    .filter(({ subjectId }) => subjectId === USERS.nora.id)
    .map(({ role, pattern }) => `${role} ${pattern}`.trim());

/** The requests for a role that no owner has answered. */
export const openRequests = ({ app }: Team) => app.ports.requests.listOpen(TEAM.id, ROLES_ASKED);

/** What the audit says of an action, newest first. */
export const audited = async ({ app }: Team, action: string) =>
  (await app.ports.audit.list({ workspaceId: TEAM.id, limit: 200 })).filter(
    (entry) => entry.action === action,
  );
