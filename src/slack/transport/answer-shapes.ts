import { z } from 'zod';
import type { Card } from '../../domain/decision.ts';

/** The parts of the Web API's answers that are read. */
const text = z.string().catch('');
export const nothing = z.unknown().transform(() => ({}));

/** Which workspace a bot token is for. */
export interface Introduction {
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly botUserId: string;
  /** The organization that the workspace belongs to (Enterprise Grid). */
  readonly enterpriseId?: string;
  /** The token is for all workspaces of the organization. */
  readonly isOrgInstall?: boolean;
}

export const introduction = z
  .object({
    team_id: text,
    team: text,
    user_id: text,
    enterprise_id: z.string().optional().catch(undefined),
    is_enterprise_install: z.boolean().catch(false),
  })
  .transform(
    ({ team_id, team, user_id, enterprise_id, is_enterprise_install }): Introduction => ({
      workspaceId: team_id,
      workspaceName: team,
      botUserId: user_id,
      enterpriseId: enterprise_id,
      isOrgInstall: is_enterprise_install || undefined,
    }),
  );
export const openedView = z
  .object({ view: z.object({ id: text }).catch({ id: '' }) })
  .transform(({ view }) => ({ viewId: view.id }));
export const card = z
  .object({ channel: text, ts: text })
  .transform(({ channel, ts }): Card => ({ channelId: channel, ts }));
export const foundUser = z.object({ user: z.unknown() });
export const foundUsers = z.unknown().transform((page) => ({ page }));
export const foundGroups = z
  .object({ usergroups: z.unknown() })
  .transform(({ usergroups }) => ({ groups: usergroups }));
export const foundChannel = z.object({ channel: z.unknown() });

/** Some of the members of a channel. */
export interface MemberPage {
  readonly members: readonly string[];
  /** Empty on the last page. */
  readonly cursor: string;
}

export const memberPage = z
  .object({ members: z.array(z.string()), response_metadata: z.object({ next_cursor: text }).optional() })
  .transform(
    ({ members, response_metadata: more }): MemberPage => ({
      members,
      cursor: more?.next_cursor ?? '',
    }),
  );
