import { Refusal } from '../../domain/errors.ts';
import { deletionWord, type Server } from '../../domain/server.ts';
import { getWorkspace } from '../account/change-settings.ts';
import { notifyApproval } from '../approvals/notify-approval.ts';
import { requestApproval } from '../approvals/request-approval.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { AppPorts } from '../ports.ts';
import { isUnanswered } from './change-power.ts';
import { getServer, type ServerRef } from './find-server.ts';

const defineUseCase = useCasesOver<AppPorts>();

/** Looks at the server that is to be deleted, for the dialog. */
export const prepareDelete = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'reads',
  run: async (input: { ref: ServerRef }, context): Promise<DeleteReview> => {
    const server = await getServer(input.ref, context);
    return { server, takesApproval: (await getWorkspace(context)).settings.approval.delete };
  },
});

export interface DeleteReview {
  readonly server: Server;
  /** Another manager has to approve it. */
  readonly takesApproval: boolean;
}

export interface Deletion {
  readonly server: Server;
  /** Whether it is gone; undefined when neither the answer came nor a look after it. */
  readonly isGone?: boolean;
}

/**
 * Asks for a second person where the workspace wants one for deletes; undefined where it does not.
 * @throws Refusal `label_differs`, `unknown_server`, `role_needed`
 */
export const requestDelete = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'confirms',
  run: async (input: { id: number; typedLabel: string; approvalId: string }, context) => {
    if (!(await getWorkspace(context)).settings.approval.delete) return undefined;
    const { id: serverId, label, paidUntil } = await getNamed(input, context);
    const action = {
      kind: 'delete',
      serverId,
      label,
      ...(paidUntil === undefined ? {} : { paidUntil }),
    } as const;
    return requestApproval({ id: input.approvalId, action, isOverBudget: false }, context);
  },
  follow: async (requested, { ports }) => {
    if (requested?.isNew) await notifyApproval(requested.approval.id, ports);
  },
});

/**
 * Deletes the server whose label was typed, once for each form.
 * Money effect: the rest of the paid month is lost (docs/hosting-api.md 3).
 * @throws Refusal `label_differs`, `unknown_server`, `role_needed`, `approval_needed`, `already_handled`
 */
export const deleteServer = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'changes',
  subject: ({ id, typedLabel }) => ({ serverId: id, label: typedLabel }),
  run: async (input: { id: number; typedLabel: string; formId: string }, context): Promise<Deletion> => {
    const server = await getNamed(input, context);
    if ((await getWorkspace(context)).settings.approval.delete) throw new Refusal('approval_needed', {});
    const hosting = await context.hosting();
    const { seenRequests, system } = context.ports;
    if (!(await seenRequests.addFirst(`delete:${input.formId}`, system.now())))
      throw new Refusal('already_handled', {});
    try {
      await hosting.deleteServer(server.id);
      return { server, isGone: true };
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      const isGone = await isGoneNow(server.id, hosting);
      if (!isGone) context.setUnconfirmed(error.code);
      return { server, ...(isGone === undefined ? {} : { isGone }) };
    }
  },
});

/** @throws Refusal `label_differs`, `unknown_server`, `role_needed` */
async function getNamed(
  { id, typedLabel }: { id: number; typedLabel: string },
  context: UseCaseContext<AppPorts>,
): Promise<Server> {
  const server = await getServer({ id }, context, { freshness: 'fresh' });
  const wanted = deletionWord(server);
  if (typedLabel.trim() !== wanted) throw new Refusal('label_differs', { typed: typedLabel, label: wanted });
  return server;
}

async function isGoneNow(id: number, hosting: HostingApi): Promise<boolean | undefined> {
  try {
    const seen = (await hosting.listServers({ freshness: 'fresh' })).find((server) => server.id === id);
    return seen === undefined || seen.state === 'deleted';
  } catch {
    return undefined;
  }
}
