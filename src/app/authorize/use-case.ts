import { type Reach, reaches, strongestRole } from '../../domain/access.ts';
import type { Actor, Role } from '../../domain/actor.ts';
import { isExpected, Refusal, type RefusalCode } from '../../domain/errors.ts';
import type { Money } from '../../domain/money.ts';
import type { AuditEntry, HostingApi } from '../ports.ts';
import type { Services } from '../services.ts';
import { soon } from '../with-timeout.ts';
import {
  findReach,
  hasRole,
  isForAll,
  isOfHere,
  type KnownReach,
  listOwners,
  lookUpReach,
} from './find-roles.ts';

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
  /** Whether the role that this takes is held for the server of that label (DESIGN 3). */
  covers(label: string): boolean;
  /** @throws Refusal `role_needed` when it is not, `identity_unknown` when Slack did not say; audited as denied */
  demand(label: string): Promise<void>;
  /** Notes for the audit what it is about, as soon as that is known. */
  about(subject: Subject): void;
  /** Notes for the audit that nobody knows whether it happened, and why. */
  doubt(code: string): void;
}

/** The one door. Every command, button, modal and page comes through here (DESIGN 2 and 3). */
export interface Door {
  /**
   * Lets the actor do it or refuses, and audits both.
   * @throws Refusal `other_organisation`, `other_workspace`, `role_needed`, `identity_unknown`, `already_handled`; and
   * what the use case throws
   */
  enter<Input, Output>(useCase: UseCase<Input, Output>, input: Input, visit: Visit): Promise<Output>;
  /** Only asks whether the actor may; a refusal is audited all the same. @throws Refusal as `enter` does */
  knock(useCase: AnyUseCase, visit: Visit): Promise<void>;
  /** All that the actor may do now; empty for nothing. */
  findReach(actor: Actor): Promise<Reach>;
  /** Whether the actor may still do something that they have confirmed. @throws Refusal `identity_unknown` */
  hasRole(actor: Actor, needed: Role, label: string): Promise<boolean>;
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
      const reach = await pass(trail, () => letIn(useCase, visit, services, isForAll));
      await pass(trail, () => refuseReplay(useCase, visit, services));
      if (useCase.effect === 'changes') await trail.write('started');
      try {
        const output = await useCase.run(input, makeScene(useCase, services, visit.actor, reach, trail));
        if (useCase.effect === 'changes') await trail.end();
        return output;
      } catch (error) {
        const outcome = outcomeOf(error);
        if (useCase.effect !== 'reads' || outcome === 'denied') await trail.write(outcome, codeOf(error));
        throw error;
      }
    },
    knock: async (useCase, visit) => {
      const trail = startTrail(services, useCase.name, visit);
      // Whoever may do it to some server at all does not wait for Slack twice, here and when they enter.
      await pass(trail, () => letIn(useCase, visit, services, reaches));
    },
    findReach: (actor) => findReach(actor, services),
    hasRole: (actor, needed, label) => hasRole(actor, needed, label, services),
  };
}

async function pass<Found>(trail: Trail, check: () => Promise<Found>): Promise<Found> {
  try {
    return await check();
  } catch (error) {
    await trail.write('denied', codeOf(error));
    throw error;
  }
}

async function letIn(
  { needs }: AnyUseCase,
  { actor }: Visit,
  services: Services,
  isEnough: (own: Reach, needed: Role) => boolean,
): Promise<KnownReach> {
  if (!(await services.store.workspaces.find(actor.workspaceId))) throw new Refusal('other_workspace', {});
  if (!(await isOfHere(actor, services))) throw new Refusal('other_organisation', {});
  if (needs === 'anyone') return { held: [], possible: [] };
  const reach = await lookUpReach(actor, services, (own) => isEnough(own, needs));
  if (!reaches(reach.held, needs)) throw await lackOf(needs, reach, actor, services);
  return reach;
}

const NAMING_MS = 300;

/** Says which role it takes, which one is held instead, and who could give it; or that Slack could not say. */
async function lackOf(needed: Role, reach: KnownReach, actor: Actor, services: Services, label?: string) {
  if (reaches(reach.possible, needed, label)) return new Refusal('identity_unknown', {});
  const held = strongestRole(reach.held);
  return new Refusal('role_needed', {
    needed,
    ...(held ? { held } : {}),
    ...(label === undefined ? {} : { label }),
    // A courtesy, which must not make a refusal late: Slack may be slow to say who is still an owner.
    owners: (await soon(listOwners(actor.workspaceId, services), services.system, NAMING_MS)) ?? [],
  });
}

async function refuseReplay(useCase: AnyUseCase, visit: Visit, services: Services): Promise<void> {
  if (useCase.effect !== 'changes' || visit.requestId === undefined) return;
  const isFirst = await services.store.seenRequests.add(visit.requestId, services.system.now());
  if (!isFirst) throw new Refusal('already_handled', {});
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

function makeScene(
  { needs }: AnyUseCase,
  services: Services,
  actor: Actor,
  reach: KnownReach,
  trail: Pick<Scene, 'about' | 'doubt'>,
): Scene {
  let hosting: Promise<HostingApi> | undefined;
  const covers = (label: string) => needs === 'anyone' || reaches(reach.held, needs, label);
  return {
    actor,
    services,
    about: trail.about,
    doubt: trail.doubt,
    covers,
    demand: async (label) => {
      if (needs !== 'anyone' && !covers(label)) throw await lackOf(needs, reach, actor, services, label);
    },
    // One act, one account: what was found in one is not deleted in another that is connected meanwhile.
    hosting: () => {
      hosting ??= openHosting(actor.workspaceId, services);
      return hosting;
    },
  };
}

/** @throws Refusal `no_api_key` */
async function openHosting(workspaceId: string, { store, hostingOf }: Services): Promise<HostingApi> {
  const held = await store.apiKeys.find(workspaceId);
  if (!held) throw new Refusal('no_api_key', {});
  return hostingOf(held.key);
}

function codeOf(error: unknown): string {
  // What it comes from says more.
  if (error instanceof Refusal && error.code === 'not_approved')
    return (error as Refusal<'not_approved'>).details.why;
  return isExpected(error) ? error.code : 'defect';
}

/** Matters for the door, even where only the use case can know: who created it, which server it is, who asked. */
const DENIALS: readonly RefusalCode[] = ['not_creator', 'role_needed', 'identity_unknown', 'own_request'];

function outcomeOf(error: unknown): AuditEntry['outcome'] {
  return error instanceof Refusal && DENIALS.includes(error.code) ? 'denied' : 'failed';
}
