import { sweepDecisions } from '../decisions/sweep-decisions.ts';
import { accessKind } from './access-kind.ts';
import type { AccessPorts } from './ports.ts';

/** Expires access requests, and notifies users of what a dead process or a silent Slack has left. */
export async function sweepAccessRequests(ports: AccessPorts, startedAt: number): Promise<void> {
  await sweepDecisions(accessKind(ports), startedAt);
}
