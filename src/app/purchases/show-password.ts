import { Refusal } from '../../domain/errors.ts';
import { matchServerInSteps, type ServerMatch } from '../../domain/server-ref.ts';
import { finish } from '../../domain/steps.ts';
import type { System } from '../../system.ts';
import { useCasesOver } from '../authorize/use-case.ts';
import type { ServerRef } from '../servers/find-server.ts';
import type { HeldPassword, Passwords } from './ports.ts';

interface PasswordPorts {
  readonly passwords: Pick<Passwords, 'listHeld' | 'find' | 'startHold'>;
  readonly system: Pick<System, 'now'>;
  readonly settings: { readonly passwordHoldMs: number };
}

const defineUseCase = useCasesOver<PasswordPorts>();

/** Long enough to be read and copied, also where `PASSWORD_HOLD_MINUTES` is 0. */
const LEAST_HOLD_MS = 60_000;

type Held = Omit<HeldPassword, 'password'>;

/**
 * Opens a held root password for the user who created the server, and for no one else, owners included.
 * The server is found among the held passwords, not through the API, so this works while the API is down.
 * @throws Refusal `no_password`, `not_creator`, `ambiguous_server` (among the actor's own)
 */
export const showPassword = defineUseCase({
  name: 'password',
  needs: 'anyone',
  effect: 'changes',
  run: async (ref: ServerRef, context): Promise<HeldPassword> => {
    const { passwords } = context.ports;
    const held = await passwords.listHeld(context.actor.workspaceId);
    const isMine = ({ creatorId }: Held) => creatorId === context.actor.userId;
    // The actor's own come first: two users may each have made a "web-1".
    const mine = matchHeld(ref, held.filter(isMine));
    if (mine.kind === 'ambiguous') {
      throw new Refusal('ambiguous_server', { typed: nameOf(ref), servers: mine.servers });
    }
    const match = mine.kind === 'found' ? mine : matchHeld(ref, held);
    const found = match.kind === 'found' && held.find(({ serverId }) => serverId === match.server.id);
    if (found)
      context.setSubject({ serverId: found.serverId, label: found.label, operationId: found.operationId });
    // In the words that were typed: a user without a role must not learn a label from this.
    if (mine.kind === 'unknown' && match.kind !== 'unknown') {
      throw new Refusal('not_creator', { label: nameOf(ref) });
    }
    const password = found && (await passwords.find(found.operationId));
    if (!password) throw new Refusal('no_password', { label: nameOf(ref) });
    // The time limit starts with this act of the creator, and only with the first one (docs/design.md 5).
    if (password.heldUntil === undefined) {
      const { system, settings } = context.ports;
      const holdMs = Math.max(settings.passwordHoldMs, LEAST_HOLD_MS);
      await passwords.startHold(password.operationId, system.now(), holdMs);
    }
    return password;
  },
});

/** An id from a button or a menu means that server only; typed, it may be another one's label, too. */
function matchHeld(ref: ServerRef, held: readonly Held[]): ServerMatch {
  const servers = held.map(({ serverId, label }) => ({ id: serverId, label, state: '' }));
  if ('typed' in ref) return finish(matchServerInSteps(ref.typed, servers));
  const server = servers.find(({ id }) => id === ref.id);
  return server ? { kind: 'found', server } : { kind: 'unknown', nearest: [] };
}

function nameOf(ref: ServerRef): string {
  return 'typed' in ref ? ref.typed : String(ref.id);
}
