import type { AuditSubject } from '../../domain/audit-entry.ts';
import { Refusal } from '../../domain/errors.ts';
import type { Server } from '../../domain/server.ts';
import { matchServer } from '../../domain/server-ref.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import type { ServerRef } from '../servers/find-server.ts';
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
