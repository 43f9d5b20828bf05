import type { AppContext } from '../context.ts';
import type { HostingApi } from '../hosting/hosting-api.ts';
import type { System } from '../system.ts';
import type { AuditEntry, AuditSubject, Surface } from './audit-entry.ts';
import { describeDefect, isExpected, isRefusal, Refusal, type RefusalCode } from './errors.ts';
import type { WorkflowKeyId } from './ids.ts';
import {
  checkPermission,
  coversAllServers,
  describeMissingRole,
  describeNotConnected,
  type KnownRoles,
  lookUpRoles,
} from './permission.ts';
import { InFlight } from './promises.ts';
import { type Actor, coversRole, type HeldRoles, type Role } from './roles.ts';

/**
 * The one entry: every command, button, form, page and program runs its use cases here (docs/design.md 7.2). Money effect: that
 * of the use case and its `follow`; the entry itself sends nothing to the hosting API.
 */
export interface Entry {
  /**
   * Checks the caller's permission, runs the use case, audits the outcome or the denial, and starts the use case's `follow`.
   * @throws Refusal `other_organization`, `other_workspace`, `role_needed`, `identity_unknown`, `workflow_key_invalid`,
   * `already_handled`; what the use case and the store throw, for an order Refusal `order_unsaved` in place of unexpected errors
   */
  execute<Input, Output>(useCase: UseCase<Input, Output>, input: Input, caller: Caller): Promise<Output>;
  /** Checks only the permission, for any server, before a form opens, and audits a denial. @throws as the checks of `execute` */
  authorize(useCase: UseCaseSpec, caller: Caller): Promise<void>;
  /** Looks up the roles that the actor holds in this workspace and channel, and the ones that Slack didn't confirm. */
  findRoles(actor: Actor): Promise<KnownRoles>;
  /** Resolves when all running follow-ups have ended. */
  drain(): Promise<void>;
}

export function createEntry(app: AppContext): Entry {
  const followUps = new InFlight();
  return {
    execute: (useCase, input, caller) =>
      execute(useCase, input, caller, app, followUps).catch((error: unknown) => {
        throw withUnsaved(useCase, error, app);
      }),
    authorize: async (useCase, caller) => {
      const trail = startAuditTrail(app, useCase.name, caller);
      // A role for any server is enough here: `execute` checks the server itself.
      const check = () => checkPermission(useCase, caller, app, coversRole);
      await auditDenial(trail, check).catch((error: unknown) => {
        throw withUnsaved(useCase, error, app);
      });
    },
    findRoles: (actor) => lookUpRoles(actor, app),
    drain: () => followUps.drain(),
  };
}

/**
 * Replaces an unexpected error of an order, such as one of the database, by the refusal `order_unsaved`. It isn't known what was
 * written, and nothing proves that an earlier press of the same form isn't carried out.
 */
function withUnsaved({ isOrder, name }: UseCaseSpec, error: unknown, app: AppContext): unknown {
  if (!isOrder || isExpected(error)) return error;
  app.log.error('an order could not be saved', { action: name, ...describeDefect(error) });
  return new Refusal('order_unsaved', {});
}

async function execute<Input, Output>(
  useCase: UseCase<Input, Output>,
  input: Input,
  caller: Caller,
  app: AppContext,
  followUps: InFlight,
): Promise<Output> {
  const { actor } = caller;
  const trail = startAuditTrail(app, useCase.name, caller);
  trail.setSubject(useCase.subject?.(input) ?? {});
  // A cached answer of Slack would let an admin who was demoted a minute ago grant roles or spend money.
  const isFresh = useCase.effect !== 'reads' && ['manager', 'owner'].includes(useCase.needs);
  const isEnough = useCase.needsAllRoles ? () => false : coversAllServers;
  const roles = await auditDenial(trail, () => checkPermission(useCase, caller, app, isEnough, { isFresh }));
  await auditDenial(trail, async () => {
    await refuseReplay(useCase, caller, app);
    if (useCase.effect !== 'reads' && !useCase.announcesChange) await caller.onChange?.();
  });
  if (useCase.effect === 'changes') await trail.write('started');
  const output = await useCase
    .run(input, createContext(useCase, app, caller, roles, trail))
    .catch((error: unknown) => auditFailure(useCase, trail, withUnsaved(useCase, error, app)));
  if (useCase.effect === 'changes') await trail.end();
  const { name, follow } = useCase;
  // Slack gets its ack first.
  if (follow)
    followUps
      .add((caller.answered ?? Promise.resolve()).then(() => follow(output, { actor, app })))
      .catch((error: unknown) =>
        app.log.error('a follow-up failed', { action: name, ...describeDefect(error) }),
      );
  return output;
}

async function auditFailure(useCase: UseCaseSpec, trail: AuditTrail, error: unknown): Promise<never> {
  const outcome = outcomeOf(error);
  const isAudited = useCase.effect !== 'reads' || outcome === 'denied';
  if (isAudited) await trail.write(outcome, codeOf(error));
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
    roles: roles.held,
    coversEveryServer: needs === 'anyone' || coversAllServers(roles.held, needs),
    requireRoleFor: async (label, typed = label) => {
      if (needs !== 'anyone' && !covers(label))
        throw await describeMissingRole(needs, roles, actor, app, { label, typed });
    },
    // Looked up once per act: a server found in one account is never deleted in another one that was connected in the meantime.
    hosting: () => {
      hosting ??= openHosting(actor, app).then((api) => watchLists(api, onPartOfList));
      return hosting;
    },
  };
}

/** Calls `onPartOfList` for every partial list that is fetched. */
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

/** Opens the workspace's hosting account, without a request. @throws Refusal `no_api_key`, `key_unreadable` */
async function openHosting(actor: Actor, app: AppContext): Promise<HostingApi> {
  const { workspaceId, userId } = actor;
  const held = await app.apiKeys.find(workspaceId);
  if (!held) throw await describeNotConnected(actor, app);
  return app.hostingOf(held.key, workspaceId, userId);
}

/** What authorization needs to know of a use case. */
export interface UseCaseSpec {
  readonly name: string;
  /** The role that the caller needs. `anyone`: every member of the workspace. */
  readonly needs: Role | 'anyone';
  /**
   * `reads` changes nothing and is audited only when denied. `changes` is audited before and after, and refused if the same
   * signed request was handled before. `confirms` only stores a confirmation, whose ID prevents a repetition
   * (docs/design.md 4.1).
   */
  readonly effect: 'reads' | 'changes' | 'confirms';
  /** Whether it confirms an order or approves one: if the database fails, the user is told not to order again. */
  readonly isOrder?: boolean;
}

/** One thing that users can do with the app, whatever the surface. */
export interface UseCase<Input, Output> extends UseCaseSpec {
  /** Looks up all roles of the actor (`UseCaseContext.roles`), and doesn't stop at the first that is enough. */
  readonly needsAllRoles?: true;
  /** The use case calls `beforeChange` itself. Without this, the entry calls `Caller.onChange` before anything but `reads`. */
  readonly announcesChange?: true;
  /** Names what the act is about from its input: audited even if the process dies before the outcome. */
  subject?(input: Input): AuditSubject;
  run(input: Input, context: UseCaseContext): Promise<Output>;
  /**
   * Continues after the request was answered, for example by sending a payment. Money effect: may send a paid request. The
   * entry starts it, so that no surface can forget it.
   */
  readonly follow?: (output: Output, context: FollowUpContext) => Promise<void>;
}

/** The user behind a request, and how it reached the app. */
export interface Caller {
  readonly actor: Actor;
  readonly surface: Surface;
  /** The key that a workflow's step has; absent if it has none of this workspace. */
  readonly workflowKeyId?: WorkflowKeyId | undefined;
  /** Identifies the signed request; absent where nothing can be replayed (the app's own pages, the command line). */
  readonly requestId?: string;
  /** Resolves when the request has been answered. Follow-ups start then, so that Slack gets its ack first. */
  readonly answered?: Promise<void>;
  /** Called before anything is changed; if it rejects, nothing is. */
  readonly onChange?: () => Promise<void>;
  /** Called when the hosting API returns only part of the list of servers, so that the surface can say so. */
  readonly onPartOfList?: () => void;
}

/** Who acts, and what with: all that is left of the context after the request has ended. */
export interface FollowUpContext {
  readonly actor: Actor;
  readonly app: AppContext;
}

/** What a use case works with: its actor, the app, and the permission of this call. */
export interface UseCaseContext extends FollowUpContext {
  /** Opens the workspace's hosting account, once per act; sends no request. @throws Refusal `no_api_key`, `key_unreadable` */
  hosting(): Promise<HostingApi>;
  /** Whether the actor holds the needed role for the server with this label (docs/design.md 3). */
  covers(label: string): boolean;
  /** The roles by which the actor was admitted; all that they hold, if the use case needs all. */
  readonly roles: HeldRoles;
  /** Whether the actor holds the needed role for all servers. */
  readonly coversEveryServer: boolean;
  /**
   * Requires the needed role for the server with this label. `typed` is how the actor named the server: the refusal has the
   * label only if the actor typed it or may see it.
   * @throws Refusal `role_needed`, or `identity_unknown` if Slack did not answer; audited as denied
   */
  requireRoleFor(label: string, typed?: string): Promise<void>;
  /** Adds to the subject of the act's audit entries. */
  setSubject(subject: AuditSubject): void;
  /** Announces a change right before it; for use cases with `announcesChange`. @throws what `Caller.onChange` throws */
  beforeChange(): Promise<void>;
  /** Makes the audit record the outcome as unknown (`in_doubt`), with this code. */
  setUnconfirmed(code: string): void;
}

/** Defines a use case: returns it as it is, with its types inferred. */
export function defineUseCase<Input, Output>(useCase: UseCase<Input, Output>): UseCase<Input, Output> {
  return useCase;
}

/** An audit entry without its time. Without an `actId`, `makeAuditEntry` gives it a new one. */
export type AuditFacts = Omit<AuditEntry, 'at' | 'actId'> & { readonly actId?: string };

/** Makes an audit entry with the present time. Stores nothing. */
export function makeAuditEntry(
  { system }: { readonly system: System },
  { actId = system.newId(), ...facts }: AuditFacts,
): AuditEntry {
  return { at: system.now(), actId, ...facts };
}

type AuditTrail = ReturnType<typeof startAuditTrail>;

/** Starts the audit of one act: its entries share an ID. Nothing is written yet; writing throws what the store throws. */
export function startAuditTrail(app: AppContext, action: string, { actor, surface }: Caller) {
  let actId: string | undefined;
  let subject: AuditSubject = {};
  let unconfirmed: string | undefined;
  const write = (outcome: AuditEntry['outcome'], code?: string): Promise<void> => {
    const { workspaceId, userId: actorId, channelId } = actor;
    const who = { workspaceId, actorId, channelId, surface };
    actId ??= app.system.newId();
    return app.audit.add(makeAuditEntry(app, { ...who, action, actId, ...subject, outcome, code }));
  };
  return {
    /** Adds to what further entries are about. */
    setSubject: (more: AuditSubject): void => {
      const known = Object.entries(more).filter(([, value]) => value !== undefined);
      subject = { ...subject, ...Object.fromEntries(known) };
    },
    /** Makes `end` write the outcome `in_doubt` with this code. */
    setUnconfirmed: (code: string): void => {
      unconfirmed = code;
    },
    write,
    /** Writes the outcome of an act that did not throw: `done`, or `in_doubt`. */
    end: () => (unconfirmed === undefined ? write('done') : write('in_doubt', unconfirmed)),
  };
}

/** Refusals because of who the actor is. They count as denials also if only the use case can find out. */
const DENIALS: readonly RefusalCode[] = [
  'not_creator',
  'role_needed',
  'identity_unknown',
  'own_request',
  'not_requester',
  'workflow_key_invalid',
];

/** Classifies an error for the audit: `denied` if it is about the actor, otherwise `failed`. */
export function outcomeOf(error: unknown): AuditEntry['outcome'] {
  return error instanceof Refusal && DENIALS.includes(error.code) ? 'denied' : 'failed';
}

/** Returns the code that the audit stores for an error; `defect` for an unexpected one. */
export function codeOf(error: unknown): string {
  // The reason inside this refusal says more than its own code.
  if (isRefusal(error, 'not_approved')) return error.details.reason.code;
  return isExpected(error) ? error.code : 'defect';
}
