import type { Role } from '../../domain/actor.ts';
import { MINUTE_MS } from '../../domain/time.ts';

/** "operator web-* U012AB3CD for 480 min": what the audit says about a role that is granted, revoked or requested. */
export function describeForAudit(grant: {
  readonly role: Role;
  readonly pattern: string;
  readonly subjectId: string;
  readonly forMs?: number | undefined;
}): string {
  const { role, pattern, subjectId, forMs } = grant;
  const time = forMs ? `for ${Math.round(forMs / MINUTE_MS)} min` : '';
  return [role, pattern, subjectId, time].filter(Boolean).join(' ');
}
