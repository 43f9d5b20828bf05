import { z } from 'zod';
import type { NewAccessRequest } from '../../app/access/ports.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import { ACCESS_REQUEST_STATES } from '../../domain/decision.ts';
import { fromDecisionColumns, toDecisionColumns } from '../decisions/decision-rows.ts';
import { keepPresent } from '../engine/omit-null.ts';
import type { AccessRequestRow } from '../engine/tables.ts';

/** Makes the row of a new request. */
export function toAccessRequestRow(request: NewAccessRequest): AccessRequestRow {
  return {
    ...toDecisionColumns(request),
    asker_id: request.requesterId,
    role: request.role,
    pattern: request.pattern,
    pattern_key: request.pattern.toLowerCase(),
    reason: request.reason,
    until: null,
    granted_role: null,
    granted_pattern: null,
    command: request.command ?? null,
  };
}

/** A row of the requests, whose state and reason are not checked yet. */
type StoredRequest = Omit<AccessRequestRow, 'state' | 'reason'> & {
  readonly state: string;
  readonly reason: string | null;
};

/** Reads a row of the requests. */
export function toAccessRequest(row: StoredRequest): AccessRequest {
  return {
    ...fromDecisionColumns(row),
    state: z.enum(ACCESS_REQUEST_STATES).parse(row.state),
    requesterId: row.asker_id,
    role: row.role,
    pattern: row.pattern,
    reason: z.string().parse(row.reason),
    ...keepPresent({ until: row.until, command: row.command, granted: grantedOf(row) }),
  };
}

/** What was granted; null where nothing was, and in rows of the first release. */
function grantedOf({ granted_role: role, granted_pattern }: StoredRequest) {
  return role === null ? null : { role, pattern: granted_pattern ?? '' };
}
