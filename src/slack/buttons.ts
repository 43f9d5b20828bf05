import { z } from 'zod';
import { ROLES } from '../domain/actor.ts';
import { defineButton, defineChoice } from './kit/button.ts';

/** The buttons and menus that stand in messages. What they do is in the command that they belong to. */
const server = z.object({ id: z.number().int() });

export const startButton = defineButton('start', server);
export const stopButton = defineButton('stop', server);
export const rebootButton = defineButton('reboot', server);
export const renewButton = defineButton('renew', server);
export const deleteButton = defineButton('delete', server);
export const showButton = defineButton('show', server);
export const createButton = defineButton('create', z.object({ plan: z.string().exactOptional() }));
/** A person ends an operation in doubt. */
export const decideButton = defineButton('decide', z.object({ operationId: z.string() }));
/** A review of the same order, with today's price and an operation id of its own. */
export const createReviewButton = defineButton(
  'create_review',
  z.object({ plan: z.string(), location: z.string(), image: z.string(), label: z.string() }),
);
export const connectButton = defineButton('connect', z.object({}));
export const disconnectButton = defineButton('disconnect', z.object({}));
/** A plain link; Slack sends a press of it all the same, and wants it acknowledged. */
export const linkButton = defineButton('link', z.object({}));

/** The sealed copy of a root password is erased, and the message with it. */
export const savedButton = defineButton('password_saved', z.object({ operationId: z.string() }));
export const passwordButton = defineButton('password', z.object({ typed: z.string() }));

const approval = z.object({ approvalId: z.string() });
/** A second person's answers to what somebody has confirmed. */
export const approvalButton = {
  approve: defineButton('approval_approve', approval),
  deny: defineButton('approval_deny', approval),
} as const;

/** Somebody without the role asks for it. */
export const requestAccessButton = defineButton(
  'access_ask',
  z.object({ role: z.enum(ROLES), label: z.string().exactOptional() }),
);
const accessRequest = z.object({ requestId: z.string() });
/** An owner's answers to it. */
export const accessAnswerButton = {
  hour: defineButton('access_hour', accessRequest),
  workday: defineButton('access_workday', accessRequest),
  good: defineButton('access_good', accessRequest),
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

const listPage = z.object({ filter: z.string(), page: z.number().int().min(0) });
/** Two ids, since Slack takes no two buttons of one id in a row. */
export const listPages = {
  back: defineButton('list_back', listPage),
  further: defineButton('list_page', listPage),
} as const;
export const auditPageButton = defineButton(
  'audit_page',
  z.object({
    before: z.string(),
    server: z.string().exactOptional(),
    actorId: z.string().exactOptional(),
    since: z.number().exactOptional(),
  }),
);
const catalogPage = z.object({ page: z.number().int().min(0) });
export const catalogPages = {
  back: defineButton('catalog_back', catalogPage),
  further: defineButton('catalog_page', catalogPage),
} as const;

/** Picks the server whose sheet is shown. */
export const manageChoice = defineChoice('manage');
