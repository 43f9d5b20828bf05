import { z } from 'zod';
import { ROLES } from '../core/roles.ts';
import { defineButton } from '../slack/kit/button.ts';

/** A role that a user may request, for all servers or one, and the command for which they need it. */
export const wantedRole = z.object({
  role: z.enum(ROLES),
  label: z.string().exactOptional(),
  command: z.string().exactOptional(),
});

/** Requests a role, from a user who needs it. */
export const requestAccessButton = defineButton('access_ask', wantedRole);
export const accessRequestId = z.object({ id: z.string() });
/** An owner's answers to a request for a role. */
export const accessAnswerButton = {
  hour: defineButton('access_hour', accessRequestId),
  workday: defineButton('access_workday', accessRequestId),
  permanent: defineButton('access_permanent', accessRequestId),
  deny: defineButton('access_deny', accessRequestId),
} as const;
/** Open the forms in which a request is approved for less than was asked, or denied with a reason. */
export const adjustButton = defineButton('access_adjust', accessRequestId);
export const denyAccessButton = defineButton('access_deny_reason', accessRequestId);
/** The requester withdraws their request. */
export const withdrawAccessButton = defineButton('access_withdraw', accessRequestId);
/** The requester, who was granted the role, goes on with the command that they need it for. */
export const continueButton = defineButton('access_continue', accessRequestId);
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
