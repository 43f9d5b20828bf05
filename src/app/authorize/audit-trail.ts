import type { AuditAction } from '../../domain/audit-action.ts';
import type { AuditCode } from '../../domain/audit-code.ts';
import type { AuditEntry, AuditSubject } from '../../domain/audit-entry.ts';
import { isExpected, isRefusal, Refusal, type RefusalCode } from '../../domain/errors.ts';
import type { AppContext } from '../ports.ts';
import { makeAuditEntry } from './audit-entry.ts';
import type { Caller } from './use-case.ts';

/** The audit entries of one act, which share its ID. */
export interface AuditTrail {
  setSubject(subject: AuditSubject): void;
  setUnconfirmed(code: AuditCode): void;
  write(outcome: AuditEntry['outcome'], code?: AuditCode): Promise<void>;
  /** Writes how the act ended, given that it did not throw. */
  end(): Promise<void>;
}

/** Starts the audit of one act. Nothing is written yet. */
export function startAuditTrail(app: AppContext, action: AuditAction, caller: Caller): AuditTrail {
  const { actor, surface } = caller;
  const actId = app.system.newId();
  let subject: AuditSubject = {};
  let unconfirmed: AuditCode | undefined;
  const write = (outcome: AuditEntry['outcome'], code?: AuditCode) =>
    app.audit.add(
      makeAuditEntry(app, {
        workspaceId: actor.workspaceId,
        actorId: actor.userId,
        channelId: actor.channelId,
        surface,
        action,
        actId,
        ...subject,
        outcome,
        code,
      }),
    );
  return {
    setSubject: (more) => {
      const known = Object.entries(more).filter(([, value]) => value !== undefined);
      subject = { ...subject, ...Object.fromEntries(known) };
    },
    setUnconfirmed: (code) => {
      unconfirmed = code;
    },
    write,
    end: () => (unconfirmed === undefined ? write('done') : write('in_doubt', unconfirmed)),
  };
}

/** Refusals that are about the actor, even where only the use case can know: who created it, which server it is. */
const DENIALS: readonly RefusalCode[] = [
  'not_creator',
  'role_needed',
  'identity_unknown',
  'own_request',
  'not_requester',
  'workflow_key_invalid',
];

/** Tells a denial from any other failure. */
export function outcomeOf(error: unknown): AuditEntry['outcome'] {
  return error instanceof Refusal && DENIALS.includes(error.code) ? 'denied' : 'failed';
}

/** The code that the audit stores for an error. */
export function codeOf(error: unknown): AuditCode {
  // The error that the refusal was made from says more.
  if (isRefusal(error, 'not_approved')) return error.details.reason.code;
  return isExpected(error) ? error.code : 'defect';
}
