import { z } from 'zod';

const json = z.record(z.string(), z.unknown());

const message = z.strictObject({
  channel: z.string(),
  ts: z.string().regex(/^\d+\.\d+$/),
  user: z.string(),
  text: z.string(),
  blocks: z.array(json),
  attachments: z.array(json).default([]),
  threadTs: z.string().nullable(),
  edited: z.boolean(),
});

const replyUrl = z.strictObject({
  path: z.string(),
  person: z.string(),
  channel: z.string(),
  original: z.strictObject({ channel: z.string(), ts: z.string() }).nullable(),
  madeAt: z.number(),
  uses: z.int().nonnegative(),
});

/**
 * All of the local Slack that outlives its process. Left out on purpose: ephemeral messages, which hold root
 * passwords and vanish at a reload anyway; open modals and homes; traffic and broken rules; what admins changed.
 */
export const slackSnapshotSchema = z.strictObject({
  version: z.literal(1),
  messages: z.array(message),
  /** `personId/channelId` -> ts of the last message that they have read. */
  read: z.record(z.string(), z.string()),
  /** The app may still answer to these after a restart. */
  replyUrls: z.array(replyUrl),
});

export type SlackSnapshot = z.output<typeof slackSnapshotSchema>;
