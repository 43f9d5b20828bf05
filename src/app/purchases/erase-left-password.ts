import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId } from '../../domain/ids.ts';
import { labelOf } from '../../domain/operation.ts';
import type { Grants } from '../access/grants-port.ts';
import { makeAuditEntry } from '../authorize/audit-entry.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import { findStandings, type StandingPorts } from './find-standing.ts';
import { subjectOfErasure, type Unopened } from './left-passwords.ts';
import type { Ledger, Passwords } from './ports.ts';

interface EraseLeftPorts extends StandingPorts {
  readonly grants: StandingPorts['grants'] & Pick<Grants, 'readVersion'>;
  readonly ledger: Pick<Ledger, 'find'>;
  readonly passwords: Pick<Passwords, 'listHeld' | 'eraseAudited'>;
}

const defineUseCase = useCasesOver<EraseLeftPorts>();

/**
 * An owner erases a root password whose creator has left or has no role for the server any more. It is not opened: an owner
 * can't see it. That the creator is gone is checked again, and no role may change in between.
 * Money effect: none; the server keeps running, but its root password is no longer known here.
 * @throws Refusal `no_password` also when it was erased before, `creator_present`, `grants_moved`; `identity_unknown` when
 * Slack doesn't say whether the creator is gone
 */
export const eraseLeftPassword = defineUseCase({
  name: 'password_discard',
  needs: 'owner',
  // A password can be erased only once: a repeated press finds none. The entry is written in the transaction that erases it.
  effect: 'confirms',
  subject: ({ operationId }) => ({ operationId }),
  run: async ({ operationId }: { operationId: ConfirmationId }, context): Promise<{ label: string }> => {
    const { actor, ports } = context;
    const { workspaceId, userId: actorId, channelId } = actor;
    // Read before the roles are looked up, so that a later change is noticed.
    const access = await ports.grants.readVersion(workspaceId);
    const held = await getHeld(operationId, context);
    const subject = subjectOfErasure(held);
    context.setSubject(subject);
    const { label, creatorId } = held;
    const [standing = 'unknown'] = await findStandings([held], ports);
    if (standing === 'unknown') throw new Refusal('identity_unknown', { userId: creatorId });
    if (standing === 'there') throw new Refusal('creator_present', { label, creatorId });
    const act = { workspaceId, actorId, channelId, surface: 'button', action: 'password_discard' } as const;
    const audit = makeAuditEntry(ports, { ...act, ...subject, outcome: 'done', code: standing });
    const outcome = await ports.passwords.eraseAudited(operationId, access, audit);
    if (outcome === 'outdated') throw new Refusal('grants_moved', {});
    if (outcome === 'gone') throw new Refusal('no_password', { label });
    return { label };
  },
});

/** An order that has not settled has no password yet: there is nothing to erase. @throws Refusal `no_password` */
async function getHeld(
  operationId: ConfirmationId,
  { actor, ports }: UseCaseContext<EraseLeftPorts>,
): Promise<Unopened> {
  const all = await ports.passwords.listHeld(actor.workspaceId);
  const held = all.find((each) => each.operationId === operationId);
  if (held) return held;
  const operation = await ports.ledger.find(operationId);
  const isOurs = operation?.workspaceId === actor.workspaceId;
  throw new Refusal('no_password', { label: isOurs ? labelOf(operation.purchase) : '' });
}
