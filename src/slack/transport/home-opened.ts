import { z } from 'zod';
import type { RequestPlace } from '../../app/installations/ports.ts';
import type { Actor } from '../../domain/actor.ts';
import { eventPlace, placeOfEvent } from './event-place.ts';

/** A user has opened the app's Home tab. */
export interface HomeOpened {
  readonly place: RequestPlace;
  /** `channelId` is the user's conversation with the app. */
  readonly actor: Actor & Required<Pick<Actor, 'channelId'>>;
}

const id = z.string().min(1).max(64);
const maybeId = id.nullish().catch(undefined);

const envelope = z.object({
  ...eventPlace,
  event: z.object({
    type: z.literal('app_home_opened'),
    user: id,
    channel: id,
    /** Slack sends the same event for the Messages tab. */
    tab: z.string().optional().catch(undefined),
    view: z.object({ app_installed_team_id: maybeId }).nullish().catch(undefined),
  }),
});

/** Reads the event; undefined for any other one, and where another tab was opened. */
export function readHomeOpened(body: unknown): HomeOpened | undefined {
  const read = envelope.safeParse(body).data;
  if (!read || (read.event.tab ?? 'home') !== 'home') return undefined;
  const { event, team_id: team } = read;
  const place = placeOfEvent(read);
  const { workspaceId, orgId } = place;
  // In what is shared with other organizations, `team_id` is the team of the user who acted.
  const homeTeamId = team && team !== workspaceId && !orgId ? team : undefined;
  return {
    place,
    actor: { workspaceId, userId: event.user, channelId: event.channel, homeTeamId },
  };
}
