import { coversRole, type HeldRoles, strongestRole } from '../../domain/access.ts';
import type { Actor, Role } from '../../domain/actor.ts';
import { isExpected, Refusal, type RefusalCode } from '../../domain/errors.ts';
import type { Money } from '../../domain/money.ts';
import type { AuditEntry, HostingApi } from '../ports.ts';
import type { Services } from '../services.ts';
import { withTimeout } from '../with-timeout.ts';
import {
  belongsToWorkspace,
  coversAllServers,
  findRoles,
  hasRole,
  type KnownRoles,
  listOwners,
  lookUpRoles,
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
  run(input: Input, context: UseCaseContext): Promise<Output>;
}

/** What an audit entry is about. */
export type Subject = { serverId?: number; label?: string; money?: Money; operationId?: string };

/** What the entry looks at, whatever goes in and comes out. */
export type UseCaseSpec = Pick<UseCase<never, unknown>, 'name' | 'needs' | 'effect'>;

/** How somebody came to the entry. */
export interface Caller {
  readonly actor: Actor;
  readonly surface: AuditEntry['surface'];
  /** One of a kind for each signed request; absent where nothing can be replayed (the command line). */
  readonly requestId?: string;
}

/** What a use case sees. */
export interface UseCaseContext {
  readonly actor: Actor;
  readonly services: Services;
  /** @throws Refusal `no_api_key` when the workspace has none yet */
  hosting(): Promise<HostingApi>;
  /** Whether the role that this takes is held for the server of that label (DESIGN 3). */
  covers(label: string): boolean;
  /** @throws Refusal `role_needed` when it is not, `identity_unknown` when Slack did not say; audited as denied */
  requireRoleFor(label: string): Promise<void>;
  /** Notes for the audit what it is about, as soon as that is known. */
  setSubject(subject: Subject): void;
  /** Notes for the audit that nobody knows whether it happened, and why. */
  setUnconfirmed(code: string): void;
}

/** The one entry. Every command, button, modal and page comes through here (DESIGN 2 and 3). */
export interface Entry {
  /**
   * Lets the actor do it or refuses, and audits both.
   * @throws Refusal `other_organisation`, `other_workspace`, `role_needed`, `identity_unknown`, `already_handled`; and
   * what the use case throws
   */
  execute<Input, Output>(useCase: UseCase<Input, Output>, input: Input, caller: Caller): Promise<Output>;
  /** Only asks whether the actor may; a refusal is audited all the same. @throws Refusal as `enter` does */
  authorize(useCase: UseCaseSpec, caller: Caller): Promise<void>;
  /** All that the actor may do now; empty for nothing. */
  findRoles(actor: Actor): Promise<HeldRoles>;
  /** Whether the actor may still do something that they have confirmed. @throws Refusal `identity_unknown` */
  hasRole(actor: Actor, needed: Role, label: string): Promise<boolean>;
}

/** Defines a use case; there for inference only. */
export function defineUseCase<Input, Output>(useCase: UseCase<Input, Output>): UseCase<Input, Output> {
  return useCase;
}

/** Builds the entry over the services. */
export function createEntry(services: Services): Entry {
  return {
    execute: async (useCase, input, caller) => {
      const auditTrail = startAuditTrail(services, useCase.name, caller);
      auditTrail.setSubject(useCase.subject?.(input) ?? {});
      const roles = await auditDenial(auditTrail, () =>
        checkPermission(useCase, caller, services, coversAllServers),
      );
      await auditDenial(auditTrail, () => refuseReplay(useCase, caller, services));
      if (useCase.effect === 'changes') await auditTrail.write('started');
      try {
        const output = await useCase.run(
          input,
          createContext(useCase, services, caller.actor, roles, auditTrail),
        );
        if (useCase.effect === 'changes') await auditTrail.end();
        return output;
      } catch (error) {
        const outcome = outcomeOf(error);
        if (useCase.effect !== 'reads' || outcome === 'denied')
          await auditTrail.write(outcome, codeOf(error));
        throw error;
      }
    },
    authorize: async (useCase, caller) => {
      const auditTrail = startAuditTrail(services, useCase.name, caller);
      // Whoever may do it to some server at all does not wait for Slack twice, here and when they enter.
      await auditDenial(auditTrail, () => checkPermission(useCase, caller, services, coversRole));
    },
    findRoles: (actor) => findRoles(actor, services),
    hasRole: (actor, needed, label) => hasRole(actor, needed, label, services),
  };
}

async function auditDenial<Found>(auditTrail: AuditTrail, check: () => Promise<Found>): Promise<Found> {
  try {
    return await check();
  } catch (error) {
    await auditTrail.write('denied', codeOf(error));
    throw error;
  }
}

async function checkPermission(
  { needs }: UseCaseSpec,
  { actor }: Caller,
  services: Services,
  isEnough: (own: HeldRoles, needed: Role) => boolean,
): Promise<KnownRoles> {
  if (!(await services.store.workspaces.find(actor.workspaceId))) throw new Refusal('other_workspace', {});
  if (!(await belongsToWorkspace(actor, services))) throw new Refusal('other_organisation', {});
  if (needs === 'anyone') return { held: [], possible: [] };
  const roles = await lookUpRoles(actor, services, (own) => isEnough(own, needs));
  if (!coversRole(roles.held, needs)) throw await describeMissingRole(needs, roles, actor, services);
  return roles;
}

const NAMING_MS = 300;

/** Says which role it takes, which one is held instead, and who could give it; or that Slack could not say. */
async function describeMissingRole(
  needed: Role,
  roles: KnownRoles,
  actor: Actor,
  services: Services,
  label?: string,
) {
  if (coversRole(roles.possible, needed, label)) return new Refusal('identity_unknown', {});
  const held = strongestRole(roles.held);
  return new Refusal('role_needed', {
    needed,
    ...(held ? { held } : {}),
    ...(label === undefined ? {} : { label }),
    // A courtesy, which must not make a refusal late: Slack may be slow to say who is still an owner.
    owners: (await withTimeout(listOwners(actor.workspaceId, services), services.system, NAMING_MS)) ?? [],
  });
}

async function refuseReplay(useCase: UseCaseSpec, caller: Caller, services: Services): Promise<void> {
  if (useCase.effect !== 'changes' || caller.requestId === undefined) return;
  const isFirst = await services.store.seenRequests.addFirst(caller.requestId, services.system.now());
  if (!isFirst) throw new Refusal('already_handled', {});
}

type AuditTrail = ReturnType<typeof startAuditTrail>;

function startAuditTrail(services: Services, action: string, { actor, surface }: Caller) {
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
    setSubject: (more: Subject) => {
      subject = { ...subject, ...more };
    },
    setUnconfirmed: (code: string) => {
      doubt = code;
    },
    write,
    end: () => (doubt === undefined ? write('done') : write('in_doubt', doubt)),
  };
}

function createContext(
  { needs }: UseCaseSpec,
  services: Services,
  actor: Actor,
  roles: KnownRoles,
  auditTrail: Pick<UseCaseContext, 'setSubject' | 'setUnconfirmed'>,
): UseCaseContext {
  let hosting: Promise<HostingApi> | undefined;
  const covers = (label: string) => needs === 'anyone' || coversRole(roles.held, needs, label);
  return {
    actor,
    services,
    setSubject: auditTrail.setSubject,
    setUnconfirmed: auditTrail.setUnconfirmed,
    covers,
    requireRoleFor: async (label) => {
      if (needs !== 'anyone' && !covers(label))
        throw await describeMissingRole(needs, roles, actor, services, label);
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

/** Matters for the entry, even where only the use case can know: who created it, which server it is, who asked. */
const DENIALS: readonly RefusalCode[] = ['not_creator', 'role_needed', 'identity_unknown', 'own_request'];

function outcomeOf(error: unknown): AuditEntry['outcome'] {
  return error instanceof Refusal && DENIALS.includes(error.code) ? 'denied' : 'failed';
}
