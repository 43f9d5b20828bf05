import { sweepDecisions } from '../decisions/sweep-decisions.ts';
import { accessKind } from './access-kind.ts';
import type { AccessPorts } from './ports.ts';

/** Expires access requests, and sends the notifications that a crash or a Slack outage has left unsent. */
export async function sweepAccessRequests(ports: AccessPorts, startedAt: number): Promise<void> {
  await sweepDecisions(accessKind(ports), startedAt);
}
