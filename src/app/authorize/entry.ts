import { coversRole, type HeldRoles } from '../../domain/access.ts';
import type { Actor, Role } from '../../domain/actor.ts';
import { DatabaseUnreachable } from '../../domain/database-unreachable.ts';
import { isRefusal, Refusal } from '../../domain/errors.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { AppContext } from '../ports.ts';
import { type AuditTrail, codeOf, outcomeOf, startAuditTrail } from './audit-trail.ts';
import { coversAllServers, findRoles, hasRole, type KnownRoles } from './find-roles.ts';
import { createFollowUps, type FollowUps } from './follow-ups.ts';
import { checkPermission, describeMissingRole } from './permission.ts';
import type { Caller, UseCase, UseCaseContext, UseCaseSpec } from './use-case.ts';

/** The one entry: every command, button, modal, page and program goes through here (docs/design.md 3). */
export interface Entry {
  /**
   * Runs the use case or refuses, audits both, and starts what follows from it.
   * @throws Refusal `other_organization`, `other_workspace`, `role_needed`, `identity_unknown`, `already_handled`, for an order
   * `order_unsaved`; DatabaseUnreachable; and what the use case throws
   */
  execute<Input, Output>(useCase: UseCase<Input, Output>, input: Input, caller: Caller): Promise<Output>;
  /** Only checks the permission, before a form is opened. A refusal is audited. @throws Refusal as `execute` does */
  authorize(useCase: UseCaseSpec, caller: Caller): Promise<void>;
  /** All roles that the actor holds in this place; empty for none. */
  findRoles(actor: Actor): Promise<HeldRoles>;
  /** Whether the actor may still do what they confirmed. @throws Refusal `identity_unknown` */
  hasRole(actor: Actor, needed: Role, label: string): Promise<boolean>;
  /** Resolves when all follow-ups have ended. */
  drain(): Promise<void>;
}

/** Builds the entry over everything that the use cases work with. */
export function createEntry(app: AppContext): Entry {
  const followUps = createFollowUps(app.log);
  return {
    execute: (useCase, input, caller) =>
      mindEarlierOrder(useCase, () => execute(useCase, input, caller, app, followUps)),
    authorize: (useCase, caller) =>
      mindEarlierOrder(useCase, async () => {
        const trail = startAuditTrail(app, useCase.name, caller);
        // A role for any server is enough here: `execute` checks the server itself.
        await auditDenial(trail, () => checkPermission(useCase, caller, app, coversRole));
      }),
    findRoles: (actor) => findRoles(actor, app),
    hasRole: (actor, needed, label) => hasRole(actor, needed, label, app),
    drain: followUps.drain,
  };
}

/** While the database is away, nothing proves that an earlier press of the same form doesn't go through. */
async function mindEarlierOrder<Result>(
  { isOrder }: UseCaseSpec,
  work: () => Promise<Result>,
): Promise<Result> {
  return work().catch((error: unknown) => {
    if (isOrder && error instanceof DatabaseUnreachable)
      throw new Refusal('order_unsaved', { isDatabaseAway: true });
    throw error;
  });
}

async function execute<Input, Output>(
  useCase: UseCase<Input, Output>,
  input: Input,
  caller: Caller,
  app: AppContext,
  followUps: FollowUps,
): Promise<Output> {
  const { actor } = caller;
  const trail = startAuditTrail(app, useCase.name, caller);
  trail.setSubject(useCase.subject?.(input) ?? {});
  // An admin who was demoted a minute ago must not grant roles or spend money by a cached answer of Slack.
  const isFresh = useCase.effect !== 'reads' && ['manager', 'owner'].includes(useCase.needs);
  const roles = await auditDenial(trail, () =>
    checkPermission(useCase, caller, app, coversAllServers, { isFresh }),
  );
  await auditDenial(trail, async () => {
    await refuseReplay(useCase, caller, app);
    if (useCase.effect !== 'reads' && !useCase.announcesChange) await caller.onChange?.();
  });
  if (useCase.effect === 'changes') await trail.write('started');
  const output = await useCase
    .run(input, createContext(useCase, app, caller, roles, trail))
    .catch((error: unknown) => auditFailure(useCase, trail, error));
  if (useCase.effect === 'changes') await trail.end();
  const { follow } = useCase;
  if (follow) followUps.start(useCase.name, caller.answered, () => follow(output, { actor, app }));
  return output;
}

async function auditFailure(useCase: UseCaseSpec, trail: AuditTrail, error: unknown): Promise<never> {
  const outcome = outcomeOf(error);
  const isAudited = useCase.effect !== 'reads' || outcome === 'denied';
  const written = isAudited ? trail.write(outcome, codeOf(error)) : Promise.resolve();
  // Where the store fails already, what the user has to know about it comes first.
  await written.catch((failure: unknown) => {
    if (!isRefusal(error, 'order_unsaved') && !isRefusal(error, 'approval_unsaved')) throw failure;
  });
  throw error;
}

async function auditDenial<Result>(trail: AuditTrail, check: () => Promise<Result>): Promise<Result> {
  try {
    return await check();
  } catch (error) {
    await trail.write('denied', codeOf(error));
    throw error;
  }
}

async function refuseReplay(useCase: UseCaseSpec, { requestId }: Caller, app: AppContext): Promise<void> {
  if (useCase.effect !== 'changes' || requestId === undefined) return;
  const isFirst = await app.seenRequests.addFirst(requestId, app.system.now());
  if (!isFirst) throw new Refusal('already_handled', {});
}

function createContext(
  { needs }: UseCaseSpec,
  app: AppContext,
  { actor, onChange, onPartOfList }: Caller,
  roles: KnownRoles,
  trail: AuditTrail,
): UseCaseContext {
  let hosting: Promise<HostingApi> | undefined;
  const covers = (label: string) => needs === 'anyone' || coversRole(roles.held, needs, label);
  return {
    actor,
    app,
    setSubject: trail.setSubject,
    setUnconfirmed: trail.setUnconfirmed,
    beforeChange: async () => onChange?.(),
    covers,
    coversEveryServer: needs === 'anyone' || coversAllServers(roles.held, needs),
    requireRoleFor: async (label, typed = label) => {
      if (needs !== 'anyone' && !covers(label))
        throw await describeMissingRole(needs, roles, actor, app, { label, typed });
    },
    // One act uses one account: a server found in one account is never deleted in another that was connected since.
    hosting: () => {
      hosting ??= openHosting(actor, app).then((api) => watchLists(api, onPartOfList));
      return hosting;
    },
  };
}

/** Notifies the surface of a partial list, whatever the use case does with it. */
function watchLists(api: HostingApi, onPartOfList: Caller['onPartOfList']): HostingApi {
  return {
    ...api,
    fetchServers: async (options) => {
      const list = await api.fetchServers(options);
      if (list.extent === 'part') onPartOfList?.();
      return list;
    },
  };
}

/** @throws Refusal `no_api_key` */
async function openHosting(
  { workspaceId, userId }: Actor,
  { apiKeys, hostingOf }: AppContext,
): Promise<HostingApi> {
  const held = await apiKeys.find(workspaceId);
  if (!held) throw new Refusal('no_api_key', {});
  return hostingOf(held.key, workspaceId, userId);
}
