import { createHmac } from 'node:crypto';

/** Signs a request body as Slack does: v0, HMAC-SHA256 over `v0:seconds:body` (Slack's "Verifying requests" page). */
export function signBody(signingSecret: string, timestampSeconds: number | string, body: string): string {
  return `v0=${createHmac('sha256', signingSecret).update(`v0:${timestampSeconds}:${body}`).digest('hex')}`;
}
