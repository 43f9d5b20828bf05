import { USERS } from '../../src/sandbox/slack/workspace.ts';
import type { LocalSlack } from '../support/slack/local-slack.ts';
import type { Team } from '../support/team.ts';

const MOST = 1000;

/** The only place here that knows the app's insides: every entry of the audit as a line, oldest first. */
export async function listAudit({ app }: Team, slacks: readonly LocalSlack[]): Promise<readonly string[]> {
  const lists = await Promise.all(
    slacks.map(async ({ team }) =>
      (await app.ports.audit.list({ workspaceId: team.id, limit: MOST })).toReversed(),
    ),
  );
  return lists
    .flat()
    .map(({ workspaceId, actorId, surface, action, serverId, label, money, outcome, code }) => {
      const name =
        Object.values(USERS).find(({ id }) => id === actorId || actorId.endsWith(id.slice(1)))?.name ??
        actorId;
      const workspace = slacks.length > 1 ? workspaceId : undefined;
      const subject = [serverId, label && `“${label}”`, money && `money ${money}`];
      return [workspace, name, surface, action, ...subject, outcome, code]
        .filter((part) => part !== undefined && part !== '')
        .join(' ');
    });
}
