import { z } from 'zod';
import { submittedView } from '../kit/modal.ts';

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

export type Place = z.output<typeof suggestionPayload>;
