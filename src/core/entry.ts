import type { AppContext } from '../context.ts';
import type { HostingApi } from '../hosting/hosting-api.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import type { AuditAction, AuditCode, AuditEntry, AuditSubject, Surface } from './audit-entry.ts';
import {
  DatabaseUnreachable,
  describeDefect,
  isExpected,
  isRefusal,
  Refusal,
  type RefusalCode,
} from './errors.ts';
import type { ChannelId, ConfirmationId, ServerId, WorkflowKeyId } from './ids.ts';
import { InFlight } from './locks.ts';
import type { Money } from './money.ts';
import {
  checkPermission,
  coversAllServers,
  describeMissingRole,
  findRoles,
  hasRole,
  type KnownRoles,
} from './permission.ts';
import { type Actor, coversRole, type HeldRoles, type Role } from './roles.ts';

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

/** One thing that users can do with this app, from any surface. */
export interface UseCase<Input, Output> {
  /** Its name in the audit. */
  readonly name: AuditAction;
  readonly needs: Role | 'anyone';
  /**
   * `reads` is audited only when it is denied. `changes` is audited before and after, and refused when the same signed
   * request was handled before. `confirms` only writes a confirmation before the ack: its ID prevents a repetition
   * (docs/design.md 4.1).
   */
  readonly effect: 'reads' | 'changes' | 'confirms';
  /** It calls `beforeChange` itself, once it knows the server. Otherwise the entry does that for what doesn't only read. */
  readonly announcesChange?: true;
  /** What it is about, from the input alone: audited even if the process dies before the outcome. */
  subject?(input: Input): AuditSubject;
  run(input: Input, context: UseCaseContext): Promise<Output>;
  /** While the store fails, its user must not order again: an earlier press of the same form may go through. */
  readonly isOrder?: boolean;
  /** As with `confirms`, an earlier press of the same form may be doing it. */
  readonly isOncePerForm?: boolean;
  /** What follows from the act, such as sending a payment. The entry starts it, so that no surface can forget it. */
  readonly follow?: (output: Output, context: FollowUpContext) => Promise<void>;
}

/** What authorization looks at, whatever the input and the output are. */
export type UseCaseSpec = Pick<
  UseCase<never, unknown>,
  'name' | 'needs' | 'effect' | 'isOrder' | 'isOncePerForm'
>;

/** Who sent a request, and how it reached us. */
export interface Caller {
  readonly actor: Actor;
  readonly surface: Surface;
  /** The workflow key that a workflow came with; absent where it came with none of this workspace. */
  readonly workflowKeyId?: WorkflowKeyId | undefined;
  /** Unique for each signed request; absent where nothing can be replayed (the app's own pages, the command line). */
  readonly requestId?: string;
  /** Resolves when the request has been answered: Slack must get its ack before any follow-up starts. */
  readonly answered?: Promise<void>;
  /**
   * Called before anything is changed. Nothing is changed before this call, nor if it rejects.
   */
  readonly onChange?: () => Promise<void>;
  /** Called when the hosting API returns only part of the list of servers, so that every surface can say so. */
  readonly onPartOfList?: () => void;
}

/** What a use case works with. */
export interface UseCaseContext {
  readonly actor: Actor;
  readonly app: AppContext;
  /** @throws Refusal `no_api_key` when the workspace has none yet */
  hosting(): Promise<HostingApi>;
  /** Whether the actor holds the role that this use case needs for the server with that label (docs/design.md 3). */
  covers(label: string): boolean;
  /** Whether the actor holds that role for all servers, whatever their labels. */
  readonly coversEveryServer: boolean;
  /**
   * `typed` is how the actor named the server: a refusal tells the label only to those who know it or may see it.
   * @throws Refusal `role_needed`, or `identity_unknown` when Slack did not answer; audited as denied
   */
  requireRoleFor(label: string, typed?: string): Promise<void>;
  /** Adds to what the audit says this act is about. */
  setSubject(subject: AuditSubject): void;
  /** Has to be called right before a server is changed, by use cases that say so. @throws what the caller's `onChange` throws */
  beforeChange(): Promise<void>;
  /** Makes the audit say that the outcome is unknown, and why. */
  setUnconfirmed(code: AuditCode): void;
}

/** What a follow-up works with; the request may have ended long ago. */
export type FollowUpContext = Pick<UseCaseContext, 'actor' | 'app'>;

/** Exists for type inference only. */
export function defineUseCase<Input, Output>(useCase: UseCase<Input, Output>): UseCase<Input, Output> {
  return useCase;
}

/** Work that follows from an action and goes on after its request was answered. */
interface FollowUps {
  /** Starts the work once the request has been answered; what it throws is logged. */
  start(action: string, answered: Promise<void> | undefined, work: () => Promise<void>): void;
  /** Resolves when all that was started has ended. */
  drain(): Promise<void>;
}

function createFollowUps(log: Log): FollowUps {
  const inFlight = new InFlight();
  return {
    start: (action, answered, work) => {
      inFlight
        .add((answered ?? Promise.resolve()).then(work))
        .catch((error: unknown) => log.error('a follow-up failed', { action, ...describeDefect(error) }));
    },
    drain: () => inFlight.drain(),
  };
}

/** An audit entry without its time. Without an `actId` it gets one of its own. */
export interface AuditFacts
  extends Pick<AuditEntry, 'workspaceId' | 'actorId' | 'surface' | 'action' | 'outcome'> {
  readonly channelId?: ChannelId | undefined;
  readonly actId?: string | undefined;
  readonly code?: AuditCode | undefined;
  readonly serverId?: ServerId | undefined;
  readonly label?: string | undefined;
  readonly money?: Money | undefined;
  readonly operationId?: ConfirmationId | undefined;
}

/** Makes the audit entry of something that happens now. */
export function makeAuditEntry({ system }: { readonly system: System }, facts: AuditFacts): AuditEntry {
  const { workspaceId, actorId, surface, action, outcome, actId = system.newId(), ...rest } = facts;
  return {
    at: system.now(),
    workspaceId,
    actorId,
    surface,
    action,
    actId,
    outcome,
    ...rest,
  };
}

/** The audit entries of one act, which share its ID. */
interface AuditTrail {
  setSubject(subject: AuditSubject): void;
  setUnconfirmed(code: AuditCode): void;
  write(outcome: AuditEntry['outcome'], code?: AuditCode): Promise<void>;
  /** Writes how the act ended, given that it did not throw. */
  end(): Promise<void>;
}

/** Starts the audit of one act. Nothing is written yet. */
export function startAuditTrail(app: AppContext, action: AuditAction, caller: Caller): AuditTrail {
  const { actor, surface } = caller;
  const actId = app.system.newId();
  let subject: AuditSubject = {};
  let unconfirmed: AuditCode | undefined;
  const write = (outcome: AuditEntry['outcome'], code?: AuditCode) =>
    app.audit.add(
      makeAuditEntry(app, {
        workspaceId: actor.workspaceId,
        actorId: actor.userId,
        channelId: actor.channelId,
        surface,
        action,
        actId,
        ...subject,
        outcome,
        code,
      }),
    );
  return {
    setSubject: (more) => {
      const known = Object.entries(more).filter(([, value]) => value !== undefined);
      subject = { ...subject, ...Object.fromEntries(known) };
    },
    setUnconfirmed: (code) => {
      unconfirmed = code;
    },
    write,
    end: () => (unconfirmed === undefined ? write('done') : write('in_doubt', unconfirmed)),
  };
}

/** Refusals that are about the actor, even where only the use case can know: who created it, which server it is. */
const DENIALS: readonly RefusalCode[] = [
  'not_creator',
  'role_needed',
  'identity_unknown',
  'own_request',
  'not_requester',
  'workflow_key_invalid',
];

/** Tells a denial from any other failure. */
export function outcomeOf(error: unknown): AuditEntry['outcome'] {
  return error instanceof Refusal && DENIALS.includes(error.code) ? 'denied' : 'failed';
}

/** The code that the audit stores for an error. */
export function codeOf(error: unknown): AuditCode {
  // The error that the refusal was made from says more.
  if (isRefusal(error, 'not_approved')) return error.details.reason.code;
  return isExpected(error) ? error.code : 'defect';
}
