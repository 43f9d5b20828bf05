import { getHostingOf } from '../account/keys.ts';
import type { AuditSubject } from '../core/audit-entry.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import { matchServer } from '../core/find-server.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { withTimeout } from '../core/locks.ts';
import { hasRole } from '../core/permission.ts';
import type { Server } from '../core/server.ts';
import type { ServerRef } from '../servers/find.ts';
import { labelOf, type Operation } from './operation.ts';
import type { HeldPassword } from './ports.ts';

/** What is known of a stored root password without opening it. */
type Unopened = Omit<HeldPassword, 'password'>;

/** Long enough to be read and copied, also where `PASSWORD_HOLD_MINUTES` is 0. */
const LEAST_HOLD_MS = 60_000;

/** Which root password its creator asks for, and how to show it. */
interface Showing {
  readonly ref: ServerRef;
  /** True only if Slack has confirmed all of it. `holdMs`: how long it is held from then on, if no time limit runs yet. */
  show(held: HeldPassword, holdMs: number): Promise<boolean>;
}

/**
 * Shows a held root password to the user who created the server, and to no one else, owners included.
 * The server is found among the held passwords, not through the API, so this works while the API is down.
 * @throws Refusal `no_password`, `not_creator`, `ambiguous_server` (among the actor's own)
 */
export const showPassword = defineUseCase({
  name: 'password',
  needs: 'anyone',
  effect: 'changes',
  run: async ({ ref, show }: Showing, context): Promise<void> => {
    const { passwords, system, settings } = context.app;
    const held = await passwords.listHeld(context.actor.workspaceId);
    const isMine = ({ creatorId }: Unopened) => creatorId === context.actor.userId;
    // The actor's own come first: two users may each have made a "web-1", or a server 7 in different accounts.
    const [found, ...more] = matchHeld(ref, held.filter(isMine));
    if (!found) throw describeOthers(ref, matchHeld(ref, held), context);
    if (more.length > 0 && 'typed' in ref) {
      throw new Refusal('ambiguous_server', { typed: nameOf(ref), servers: [found, ...more].map(toServer) });
    }
    context.setSubject(subjectOf(found));
    const password = await passwords.find(found.operationId);
    if (!password) throw new Refusal('no_password', { label: nameOf(ref) });
    const holdMs = Math.max(settings.passwordHoldMs, LEAST_HOLD_MS);
    // The time limit starts only after Slack has accepted the password (docs/design.md 5.3).
    if (!(await show(password, holdMs))) context.setUnconfirmed('not_shown');
    else await passwords.startHold(password.operationId, system.now(), holdMs);
  },
});

/**
 * Why the actor sees none of these passwords, which are other users'. In the words that were typed: a user without a role
 * must not learn a label from this.
 */
function describeOthers(
  ref: ServerRef,
  [first, ...more]: readonly Unopened[],
  { setSubject }: Pick<UseCaseContext, 'setSubject'>,
): Refusal {
  const label = nameOf(ref);
  if (!first) return new Refusal('no_password', { label });
  if (more.length === 0) setSubject(subjectOf(first));
  return new Refusal('not_creator', { label });
}

/**
 * An ID from a menu means that server only; typed, it may be another one's label, too. The newest come first: a menu can't
 * tell servers of the same ID apart.
 */
function matchHeld(ref: ServerRef, held: readonly Unopened[]): readonly Unopened[] {
  if (!('typed' in ref)) return held.filter(({ serverId }) => serverId === ref.id);
  const byServer = new Map(held.map((each) => [toServer(each), each]));
  const match = matchServer(ref.typed, [...byServer.keys()]);
  if (match.kind === 'unknown') return [];
  const servers = match.kind === 'found' ? [match.server] : match.servers;
  return servers.flatMap((server) => byServer.get(server) ?? []);
}

function toServer({ serverId: id, label }: Known): Server {
  return { id, label, state: '' };
}

function subjectOf({ serverId, label, operationId }: Known): AuditSubject {
  return { serverId, label, operationId };
}

type Known = Pick<Unopened, 'serverId' | 'label' | 'operationId'>;

function nameOf(ref: ServerRef): string {
  return 'typed' in ref ? ref.typed : String(ref.id);
}

/** The servers whose root password the actor has not saved yet, newest first. No password is opened. */
export const listPasswords = defineUseCase({
  name: 'password',
  needs: 'anyone',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, app }): Promise<readonly Server[]> => {
    const held = await app.passwords.listHeld(actor.workspaceId);
    const mine = held.filter(({ creatorId }) => creatorId === actor.userId);
    return mine.map(({ serverId: id, label }) => ({ id, label, state: '' }));
  },
});

/** Whose password was erased; with the address, if the API reports it in time and the actor may still see the server. */
interface ErasedPassword {
  readonly label: string;
  readonly ipv4?: string;
}

/**
 * The creator has saved the password: its sealed copy is erased.
 * @throws Refusal `not_creator`
 */
export const erasePassword = defineUseCase({
  name: 'password_saved',
  needs: 'anyone',
  effect: 'changes',
  run: async (input: { operationId: ConfirmationId }, context): Promise<ErasedPassword> => {
    const { ledger, passwords, system } = context.app;
    const operation = await ledger.find(input.operationId);
    if (operation?.workspaceId !== context.actor.workspaceId) throw new Refusal('no_password', { label: '' });
    const { id: operationId, serverId } = operation;
    const label = labelOf(operation.purchase);
    context.setSubject({ operationId, label, serverId });
    if (operation.actorId !== context.actor.userId) throw new Refusal('not_creator', { label });
    await passwords.erase(operationId);
    const finding = findAddress(operation, label, context).catch(() => undefined);
    return { label, ipv4: await withTimeout(finding, system) };
  },
});

async function findAddress(
  operation: Operation,
  label: string,
  { actor, app }: UseCaseContext,
): Promise<string | undefined> {
  if (!(await hasRole(actor, 'viewer', label, app))) return undefined;
  const hosting = await getHostingOf(operation, app);
  const { servers } = await hosting.fetchServers();
  return servers.find(({ id }) => id === operation.serverId)?.ipv4;
}
