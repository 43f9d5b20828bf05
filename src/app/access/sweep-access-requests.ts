import { sweepDecisions } from '../decisions/sweep-decisions.ts';
import type { AppContext } from '../ports.ts';
import { accessKind } from './access-kind.ts';

/** Expires access requests, and sends the notifications that a crash or a Slack outage has left unsent. */
export async function sweepAccessRequests(app: AppContext, startedAt: number): Promise<void> {
  await sweepDecisions(accessKind(app), startedAt);
}
