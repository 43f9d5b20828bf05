import { z } from 'zod';
import { defineButton } from '../kit/button.ts';
import { auditQuery } from './audit-query.ts';

export const connectButton = defineButton('connect', z.object({}));
export const disconnectButton = defineButton('disconnect', z.object({}));
/** A link to one of the app's pages. Slack still reports the press and expects an ack. */
export const linkButton = defineButton('link', z.object({}));

export const auditPageButton = defineButton('audit_page', auditQuery.extend({ before: z.string() }));
export const auditNewestButton = defineButton('audit_newest', auditQuery);
export const auditEntryButton = defineButton('audit_details', z.object({ id: z.string() }));
export const auditFilterButton = defineButton('audit_filter', auditQuery);
