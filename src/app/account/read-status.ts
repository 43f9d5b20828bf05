import { coversRole } from '../../domain/access.ts';
import { type Approval, labelOfAction } from '../../domain/approval.ts';
import { type HostingCode, isExpected, type RefusalCode } from '../../domain/errors.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import { findRoles } from '../authorize/find-roles.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import type { AppPorts } from '../ports.ts';

const defineUseCase = useCasesOver<AppPorts>();

export interface Status {
  /** `ok`, or why the API could not be used just now. */
  readonly api: 'ok' | HostingCode | RefusalCode | 'unknown_code';
  /** What belongs to that code. */
  readonly details?: object;
  readonly servers?: number;
  readonly answerMs?: number;
  readonly budget?: { readonly taken: number; readonly limit: number; readonly waiting: number };
  /** Confirmed and not ended yet, in doubt included. */
  readonly open: readonly Operation[];
  /** Waits for a second person, oldest first. */
  readonly waiting: readonly WaitingApproval[];
  /** Root passwords that wait to be saved. */
  readonly passwordsHeld: number;
}

export interface WaitingApproval {
  readonly approval: Approval;
  /** Whether the one who looks may approve it. */
  readonly canAnswer: boolean;
}

/** Looks whether the API answers and takes the key, how much of the minute is used, and what is in doubt. */
export const readStatus = defineUseCase({
  name: 'status',
  needs: 'viewer',
  effect: 'reads',
  run: async (_input: Record<never, never>, context): Promise<Status> => {
    const { ports } = context;
    const { workspaceId } = context.actor;
    const all = await ports.ledger.listOpen(workspaceId);
    const open = all.filter(({ purchase }) => context.covers(labelOf(purchase)));
    const passwordsHeld = (await ports.passwords.listHeld(workspaceId)).length;
    const known = { open, passwordsHeld, waiting: await listWaiting(context) };
    try {
      const hosting = await context.hosting();
      const startedAt = ports.system.elapsed();
      const servers = await hosting.listServers({ freshness: 'fresh' });
      const answerMs = Math.round(ports.system.elapsed() - startedAt);
      return { api: 'ok', servers: servers.length, answerMs, budget: hosting.budget(), ...known };
    } catch (error) {
      if (!isExpected(error)) throw error;
      return { api: error.code, details: error.details, ...known };
    }
  },
});

async function listWaiting(context: UseCaseContext<AppPorts>): Promise<readonly WaitingApproval[]> {
  const { actor, ports } = context;
  const now = ports.system.now();
  const open = await ports.approvals.listOpen(actor.workspaceId);
  const waiting = open.filter(
    ({ expiresAt, action }) => expiresAt > now && context.covers(labelOfAction(action)),
  );
  if (waiting.length === 0) return [];
  const roles = await findRoles(actor, ports);
  return waiting.map((approval) => ({
    approval,
    canAnswer:
      approval.requesterId !== actor.userId && coversRole(roles, 'manager', labelOfAction(approval.action)),
  }));
}
