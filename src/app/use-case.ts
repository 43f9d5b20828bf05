import { type Actor, type Role, roleCovers, strongerRole } from '../domain/actor.ts';
import { isExpected, Refusal } from '../domain/errors.ts';
import type { Money } from '../domain/money.ts';
import type { AuditEntry, HostingApi } from './ports.ts';
import type { Services } from './services.ts';

/** One thing that can be done here, whoever asks and by whatever surface. */
export interface UseCase<Input, Output> {
  /** The audit's word for it. */
  readonly name: string;
  readonly needs: Role | 'anyone';
  /**
   * `reads` leaves no trace when it is allowed. `changes` is audited before and after, and refused when the very
   * same signed request was seen before. `confirms` writes the ledger itself, before the ack, and nothing else is
   * written then: the operation's id is what stops a repetition (DESIGN 4.1).
   */
  readonly effect: 'reads' | 'changes' | 'confirms';
  /** What it is about as far as the input says it: in the audit even if the process dies before the outcome. */
  subject?(input: Input): Subject;
  run(input: Input, scene: Scene): Promise<Output>;
}

/** What an audit entry is about. */
export type Subject = { serverId?: number; label?: string; money?: Money; operationId?: string };

/** What the door looks at, whatever goes in and comes out. */
export type AnyUseCase = Pick<UseCase<never, unknown>, 'name' | 'needs' | 'effect'>;

/** How somebody came to the door. */
export interface Visit {
  readonly actor: Actor;
  readonly surface: AuditEntry['surface'];
  /** One of a kind for each signed request; absent where nothing can be replayed (the command line). */
  readonly requestId?: string;
}

/** What a use case sees. */
export interface Scene {
  readonly actor: Actor;
  readonly services: Services;
  /** @throws Refusal `no_api_key` when the workspace has none yet */
  hosting(): Promise<HostingApi>;
  /** Notes for the audit what it is about, as soon as that is known. */
  about(subject: Subject): void;
  /** Notes for the audit that nobody knows whether it happened, and why. */
  doubt(code: string): void;
}

/** The one door. Every command, button, modal and page comes through here (DESIGN 2 and 3). */
export interface Door {
  /**
   * Lets the actor do it or refuses, and audits both.
   * @throws Refusal `other_organisation`, `other_workspace`, `role_needed`, `already_handled`; and what the use case throws
   */
  enter<Input, Output>(useCase: UseCase<Input, Output>, input: Input, visit: Visit): Promise<Output>;
  /** Only asks whether the actor may; a refusal is audited all the same. @throws Refusal as `enter` does */
  knock(useCase: AnyUseCase, visit: Visit): Promise<void>;
  /** The role that the actor holds now; undefined for none. */
  findRole(actor: Actor): Promise<Role | undefined>;
}

/** Defines a use case; there for inference only. */
export function defineUseCase<Input, Output>(useCase: UseCase<Input, Output>): UseCase<Input, Output> {
  return useCase;
}

/** Builds the door over the services. */
export function createDoor(services: Services): Door {
  return {
    enter: async (useCase, input, visit) => {
      const trail = startTrail(services, useCase.name, visit);
      trail.about(useCase.subject?.(input) ?? {});
      await pass(trail, () => letIn(useCase, visit, services));
      await pass(trail, () => refuseReplay(useCase, visit, services));
      if (useCase.effect === 'changes') await trail.write('started');
      try {
        const output = await useCase.run(input, makeScene(services, visit.actor, trail));
        if (useCase.effect === 'changes') await trail.end();
        return output;
      } catch (error) {
        if (useCase.effect !== 'reads') await trail.write(outcomeOf(error), codeOf(error));
        throw error;
      }
    },
    knock: async (useCase, visit) => {
      const trail = startTrail(services, useCase.name, visit);
      await pass(trail, () => letIn(useCase, visit, services));
    },
    findRole: (actor) => findRole(actor, 'owner', services),
  };
}

async function pass(trail: Trail, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    await trail.write('denied', codeOf(error));
    throw error;
  }
}

async function letIn(useCase: AnyUseCase, visit: Visit, services: Services): Promise<void> {
  const { actor } = visit;
  if (actor.homeTeamId !== undefined && actor.homeTeamId !== actor.workspaceId) {
    throw new Refusal('other_organisation', {});
  }
  if (!(await services.store.workspaces.find(actor.workspaceId))) throw new Refusal('other_workspace', {});
  if (useCase.needs !== 'anyone') {
    const held = await findRole(actor, useCase.needs, services);
    if (!roleCovers(held, useCase.needs)) {
      throw new Refusal('role_needed', { needed: useCase.needs, ...(held ? { held } : {}) });
    }
  }
}

async function refuseReplay(useCase: AnyUseCase, visit: Visit, services: Services): Promise<void> {
  if (useCase.effect !== 'changes' || visit.requestId === undefined) return;
  const isFirst = await services.store.seenRequests.add(visit.requestId, services.system.now());
  if (!isFirst) throw new Refusal('already_handled', {});
}

/** Slack is asked about a person only when what is known here does not suffice. */
async function findRole(actor: Actor, enough: Role, services: Services): Promise<Role | undefined> {
  if (actor.homeTeamId !== undefined && actor.homeTeamId !== actor.workspaceId) return undefined;
  if (services.settings.owners.includes(actor.userId)) return 'owner';
  const grant = await services.store.grants.find(actor.workspaceId, 'user', actor.userId);
  if (roleCovers(grant?.role, enough)) return grant?.role;
  const person = await services.people.find(actor.workspaceId, actor.userId);
  if (person?.isBot || person?.isDeactivated) return undefined;
  if (person?.teamId !== undefined && person.teamId !== actor.workspaceId) return undefined;
  return strongerRole(grant?.role, person?.isAdmin && !person.isGuest ? 'owner' : undefined);
}

type Trail = ReturnType<typeof startTrail>;

function startTrail(services: Services, action: string, { actor, surface }: Visit) {
  const actId = services.system.newId();
  let subject: Subject = {};
  let doubt: string | undefined;
  const write = (outcome: AuditEntry['outcome'], code?: string) =>
    services.store.audit.add({
      at: services.system.now(),
      workspaceId: actor.workspaceId,
      actorId: actor.userId,
      ...(actor.channelId === undefined ? {} : { channelId: actor.channelId }),
      surface,
      action,
      actId,
      ...subject,
      outcome,
      ...(code === undefined ? {} : { code }),
    });
  return {
    about: (more: Subject) => {
      subject = { ...subject, ...more };
    },
    doubt: (code: string) => {
      doubt = code;
    },
    write,
    end: () => (doubt === undefined ? write('done') : write('in_doubt', doubt)),
  };
}

function makeScene(services: Services, actor: Actor, trail: Pick<Scene, 'about' | 'doubt'>): Scene {
  return {
    actor,
    services,
    about: trail.about,
    doubt: trail.doubt,
    hosting: async () => {
      const held = await services.store.apiKeys.find(actor.workspaceId);
      if (!held) throw new Refusal('no_api_key', {});
      return services.hostingOf(held.key);
    },
  };
}

function codeOf(error: unknown): string {
  return isExpected(error) ? error.code : 'defect';
}

/** Being somebody else than the creator is a matter for the door, even where only the use case can know. */
function outcomeOf(error: unknown): AuditEntry['outcome'] {
  return error instanceof Refusal && error.code === 'not_creator' ? 'denied' : 'failed';
}
