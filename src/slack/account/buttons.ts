import { z } from 'zod';
import { defineButton } from '../kit/button.ts';

export const connectButton = defineButton('connect', z.object({}));
export const disconnectButton = defineButton('disconnect', z.object({}));
/** A link to one of the app's pages. Slack still reports the press and expects an ack. */
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
