import { z } from 'zod';
import { defineButton } from '../kit/button.ts';

export const connectButton = defineButton('connect', z.object({}));
export const disconnectButton = defineButton('disconnect', z.object({}));
/** A link to a page of ours. Slack reports the press all the same and wants it acknowledged. */
export const linkButton = defineButton('link', z.object({}));

export const auditPageButton = defineButton(
  'audit_page',
  z.object({
    before: z.string(),
    server: z.string().exactOptional(),
    actorId: z.string().exactOptional(),
    since: z.number().exactOptional(),
  }),
);
