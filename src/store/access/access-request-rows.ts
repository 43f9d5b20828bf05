import { z } from 'zod';
import type { NewAccessRequest } from '../../app/access/ports.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import { ROLES } from '../../domain/actor.ts';
import { ACCESS_REQUEST_STATES } from '../../domain/decision.ts';
import { fromDecisionColumns, toDecisionColumns } from '../decisions/decision-rows.ts';
import type { AccessRequestRow } from '../engine/decision-tables.ts';
import { keepPresent } from '../engine/omit-null.ts';
import { parseKnown } from '../newer-version.ts';

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

const role = z.enum(ROLES);

/** Reads a row of the requests. @throws Refusal `newer_version` when only a newer version of the app can read it */
export function toAccessRequest(row: StoredRequest): AccessRequest {
  return {
    ...fromDecisionColumns(row),
    state: parseKnown(z.enum(ACCESS_REQUEST_STATES), row.state),
    requesterId: row.asker_id,
    role: parseKnown(role, row.role),
    pattern: row.pattern,
    reason: z.string().parse(row.reason),
    ...keepPresent({ until: row.until, command: row.command, granted: grantedOf(row) }),
  };
}

/** What was granted; null where nothing was, and in rows of the first release. */
function grantedOf({ granted_role, granted_pattern }: StoredRequest) {
  if (granted_role === null) return null;
  return { role: parseKnown(role, granted_role), pattern: granted_pattern ?? '' };
}
