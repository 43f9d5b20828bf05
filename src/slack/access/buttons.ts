import { z } from 'zod';
import { ROLES } from '../../domain/actor.ts';
import { defineButton } from '../kit/button.ts';

/** Requests a role, from a user who needs it. */
export const requestAccessButton = defineButton(
  'access_ask',
  z.object({ role: z.enum(ROLES), label: z.string().exactOptional() }),
);
const accessRequest = z.object({ requestId: z.string() });
/** An owner's answers to a request for a role. */
export const accessAnswerButton = {
  hour: defineButton('access_hour', accessRequest),
  workday: defineButton('access_workday', accessRequest),
  permanent: defineButton('access_permanent', accessRequest),
  deny: defineButton('access_deny', accessRequest),
} as const;
export const grantButton = defineButton('access_grant', z.object({}));
export const revokeButton = defineButton(
  'access_revoke',
  z.object({ grantId: z.string(), page: z.number().int().min(0) }),
);
const accessPage = z.object({ page: z.number().int().min(0) });
export const accessPages = {
  back: defineButton('access_back', accessPage),
  further: defineButton('access_further', accessPage),
} as const;
