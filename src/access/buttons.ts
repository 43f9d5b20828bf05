import { z } from 'zod';
import { ROLES } from '../core/roles.ts';
import { defineButton } from '../slack/kit/button.ts';

/** A role to request, for all servers or the one with this label, and the command that needs it. */
export const wantedRole = z.object({
  role: z.enum(ROLES),
  label: z.string().exactOptional(),
  command: z.string().exactOptional(),
});

export const requestAccessButton = defineButton('access_ask', wantedRole);
export const accessRequestId = z.object({ id: z.string() });
export const accessAnswerButton = {
  workday: defineButton('access_workday', accessRequestId),
  permanent: defineButton('access_permanent', accessRequestId),
  deny: defineButton('access_deny', accessRequestId),
} as const;
/** Opens the form that approves a request for less than was asked, or for another time. */
export const adjustButton = defineButton('access_adjust', accessRequestId);
export const withdrawAccessButton = defineButton('access_withdraw', accessRequestId);
/** Runs the command for which the requester needed the role. */
export const continueButton = defineButton('access_continue', accessRequestId);
export const grantButton = defineButton('access_grant', z.object({}));
/** Revokes one grant on `/vps access`; `page` is the page to show again. */
export const revokeButton = defineButton(
  'access_revoke',
  z.object({ grantId: z.string(), page: z.number().int().min(0) }),
);
const accessPage = z.object({ page: z.number().int().min(0) });
/** The pages of `/vps access`, from 0. The IDs differ, since Slack refuses two buttons with the same ID in one row. */
export const accessPages = {
  back: defineButton('access_back', accessPage),
  further: defineButton('access_further', accessPage),
} as const;
