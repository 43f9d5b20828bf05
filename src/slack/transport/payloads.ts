import { z } from 'zod';
import type { Actor } from '../../domain/actor.ts';
import type { ChannelId } from '../../domain/ids.ts';
import { omitUndefined } from '../../domain/omit-undefined.ts';
import { type Origin, submittedView } from '../kit/modal.ts';

/** The parts of Slack's payloads that are read. Everything else in them is Slack's own business. */
const id = z.string().min(1).max(64);

export const commandPayload = z.object({
  text: z.string().max(20_000).default(''),
  user_id: id,
  team_id: id,
  channel_id: id.optional(),
  response_url: z.string().optional(),
  trigger_id: z.string().optional(),
});

const user = z.object({ id, team_id: id.optional() });
const place = {
  user,
  /** Null for an app that was installed for a whole organisation. */
  team: z.object({ id }).nullish(),
  channel: z.object({ id }).nullish(),
};

export const actionPayload = z.object({
  ...place,
  response_url: z.string().optional(),
  trigger_id: z.string().optional(),
  view: z.object({ private_metadata: z.string().default('') }).nullish(),
  actions: z
    .array(
      z.object({
        action_id: z.string(),
        value: z.string().nullish(),
        selected_option: z.object({ value: z.string() }).nullish(),
      }),
    )
    .min(1),
});

export const submissionPayload = z.object({
  ...place,
  trigger_id: z.string().optional(),
  view: submittedView,
});

export const suggestionPayload = z.object({
  ...place,
  action_id: z.string(),
  value: z.string().default(''),
  view: z.object({ private_metadata: z.string().default('') }).nullish(),
});

export type Place = Pick<z.output<typeof suggestionPayload>, 'user' | 'team' | 'channel'>;

/** Who acts, by what Slack says in a press, a submission or a suggestion. */
export function actorOf({ user, team }: Place, channelId: ChannelId | undefined): Actor {
  return {
    workspaceId: team?.id ?? user.team_id ?? '',
    userId: user.id,
    ...omitUndefined({ channelId, homeTeamId: user.team_id }),
  };
}

/** A modal has no channel of its own: roles for a channel count where its form was opened. */
export function channelOf({ channel }: Pick<Place, 'channel'>, origin?: Origin): ChannelId | undefined {
  return channel?.id ?? origin?.channelId;
}
