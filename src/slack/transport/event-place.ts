import { z } from 'zod';
import type { RequestPlace } from '../../app/installations/ports.ts';

const maybeId = z.string().min(1).max(64).nullish().catch(undefined);

/** What says for which workspace Slack delivers an event, in every event that is about something a user did. */
export const eventPlace = {
  team_id: maybeId,
  /** The workspace that the event is delivered for. In a shared channel, `team_id` may be that of the user who acted. */
  context_team_id: maybeId,
  enterprise_id: maybeId,
  context_enterprise_id: maybeId,
  authorizations: z
    .array(z.object({ team_id: maybeId, user_id: maybeId, is_enterprise_install: z.boolean().catch(false) }))
    .default([])
    .catch([]),
};

const envelope = z.object(eventPlace);

/** The place of an event; its workspace is '' if Slack doesn't name one. */
export function placeOfEvent(read: z.output<typeof envelope>): RequestPlace {
  const [authorization] = read.authorizations;
  const workspaceId = read.context_team_id ?? authorization?.team_id ?? read.team_id ?? '';
  const enterpriseId = read.context_enterprise_id ?? read.enterprise_id ?? undefined;
  const orgId = authorization?.is_enterprise_install ? enterpriseId : undefined;
  return { workspaceId, orgId };
}
