import { sweepDecisions } from '../decisions/sweep-decisions.ts';
import { accessKind } from './access-kind.ts';
import type { AccessPorts } from './ports.ts';

/** Expires access requests, and sends the notifications that a dead process or a Slack outage has left. */
export async function sweepAccessRequests(ports: AccessPorts, startedAt: number): Promise<void> {
  await sweepDecisions(accessKind(ports), startedAt);
}
