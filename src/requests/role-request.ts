import { checkGrantee, describeForAudit, type NewGrant, type RequestOutcome } from '../access/grants.ts';
import type { AppContext } from '../context.ts';
import { defineUseCase, makeAuditEntry, type UseCaseContext } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ConfirmationId, UserId } from '../core/ids.ts';
import { EVERY_SERVER, exactPattern } from '../core/labels.ts';
import { findRoles, listOwners } from '../core/permission.ts';
import { coversRole, type HeldRoles, type Role, roleCovers, THE_APP } from '../core/roles.ts';
import { DAY_MS, HOUR_MS, WEEK_MS } from '../core/time.ts';
import {
  type AccessRequestState,
  type Decision,
  type DecisionKind,
  getDecision,
  notifyDecision,
  refuseClosed,
  refuseOthersRequest,
  refuseOwnRequest,
  sweepDecisions,
} from './decision.ts';

/** A user asked the owners for a role. */
export interface AccessRequest extends Decision {
  readonly role: Role;
  readonly pattern: string;
  /** What the requester wrote. */
  readonly reason: string;
  readonly state: AccessRequestState;
  /** What the requester typed when they were told that they need a role: `reboot web-1`. */
  readonly command?: string;
  /** What was granted, which may be less than what was requested. */
  readonly granted?: { readonly role: Role; readonly pattern: string };
  /** When the approved role ends; absent when it is permanent. */
  readonly until?: number;
}

/** A second request for the same within this time is refused, and so are more than a few for anything. */
const REPEAT_MS = HOUR_MS;
const MOST_REQUESTS = 3;
/** How long a request stays open; after that, its reason no longer matters. */
const OPEN_MS = WEEK_MS;

/** A role, on the server of this label or on all. */
export interface WantedRole {
  readonly role: Role;
  readonly label?: string;
}

interface RequestedAccess {
  readonly request: AccessRequest;
  /** The owners who can answer; empty if none is known by ID. */
  readonly owners: readonly UserId[];
}

/**
 * Checks whether such a role can be granted at all.
 * @throws Refusal `owner_limited`, `label_needed`
 */
export function checkWantedRole({ role, label }: WantedRole): void {
  if (role === 'owner' && label !== undefined) throw new Refusal('owner_limited', {});
  // Without a label the pattern would be one for every server.
  if (label === '') throw new Refusal('label_needed', { role });
}

/**
 * Requests a role from the owners, for one server or for all. While no owner has been reached, repeating it returns the
 * same request.
 * @throws Refusal `owner_limited`, `label_needed`, `role_held`, `asked_before`, `asked_enough`, `no_grantee`
 */
export const requestAccess = defineUseCase({
  name: 'access_ask',
  needs: 'anyone',
  effect: 'changes',
  subject: ({ role, label }) => ({ label: [role, label].filter(Boolean).join(' ') }),
  run: async (
    input: WantedRole & { id: ConfirmationId; reason: string; command?: string | undefined },
    { actor, app },
  ): Promise<RequestedAccess> => {
    const { id, role, label, reason, command } = input;
    const { workspaceId, userId: requesterId, channelId } = actor;
    checkWantedRole(input);
    if (isHeld(await findRoles(actor, app), role, label)) throw new Refusal('role_held', { role });
    await checkGrantee({ subjectKind: 'user', subjectId: requesterId }, { actor, app });
    const requestedAt = app.system.now();
    const pattern = label === undefined ? EVERY_SERVER : exactPattern(label);
    const times = { requestedAt, expiresAt: requestedAt + OPEN_MS };
    const wanted = { id, workspaceId, requesterId, role, pattern, reason, ...times };
    const outcome = await app.accessRequests.request(
      { ...wanted, channelId, command },
      { since: requestedAt - REPEAT_MS, most: MOST_REQUESTS },
    );
    const request = takeRequest(outcome);
    const replaced = outcome.kind === 'new' ? outcome.replaced : [];
    const [notified = request] = await Promise.all(
      [request, ...replaced].map((each) => notifyAccessRequest(each.id, app)),
    );
    return { request: notified, owners: await listDeciders(request, app) };
  },
});

/** @throws Refusal `asked_before`, `asked_enough`; a repeated one that has reached no owner is not refused */
function takeRequest(outcome: RequestOutcome): AccessRequest {
  if (outcome.kind === 'too_many') {
    const againAt = (outcome.recent.at(-MOST_REQUESTS)?.requestedAt ?? 0) + REPEAT_MS;
    const wishes = outcome.recent.map(({ role, pattern, requestedAt: at }) => ({ role, pattern, at }));
    throw new Refusal('asked_enough', { wishes, againAt });
  }
  const { request } = outcome;
  const isUnheard = request.state === 'open' && request.cards.length === 0;
  if (outcome.kind === 'new' || isUnheard) return request;
  const { requestedAt: at, state } = request;
  throw new Refusal('asked_before', { at, state, againAt: at + REPEAT_MS });
}

function isHeld(roles: HeldRoles, wanted: Role, label: string | undefined): boolean {
  if (label !== undefined) return coversRole(roles, wanted, label);
  return roles.some(({ role, pattern }) => roleCovers(role, wanted) && pattern === EVERY_SERVER);
}

/** An owner's answer. An approval grants what was requested, or less: a lower role, fewer servers. */
export type AccessAnswer =
  | {
      readonly kind: 'approve';
      readonly role?: Role;
      readonly pattern?: string;
      /** How long the role lasts; absent: permanently. */
      readonly forMs?: number | undefined;
    }
  | { readonly kind: 'deny'; readonly reason?: string | undefined };

type Approval = Extract<AccessAnswer, { kind: 'approve' }>;

/** Finds an open request, for the form in which it is answered. @throws Refusal `request_over`, `own_request` */
export const readAccessRequest = defineUseCase({
  name: 'access_answer',
  needs: 'owner',
  effect: 'reads',
  run: async ({ id }: { id: ConfirmationId }, { actor, app }): Promise<AccessRequest> => {
    const kind = accessKind(app);
    const request = await getDecision(kind, id, actor);
    refuseOwnRequest(request, actor);
    return request.state === 'open' ? request : refuseClosed(kind, id);
  },
});

/**
 * An owner answers another user's access request.
 * @throws Refusal `request_over`, `own_request`, `beyond_request`, `owner_limited`, `no_grantee`
 */
export const answerAccessRequest = defineUseCase({
  name: 'access_answer',
  needs: 'owner',
  effect: 'changes',
  run: async (input: { id: ConfirmationId; answer: AccessAnswer }, context): Promise<AccessRequest> => {
    const { actor, app, setSubject } = context;
    const { answer } = input;
    const kind = accessKind(app);
    const request = await getDecision(kind, input.id, actor);
    setSubject({ label: auditLabel(request, answer) });
    refuseOwnRequest(request, actor);
    const at = app.system.now();
    const decision =
      answer.kind === 'deny'
        ? { denialReason: answer.reason }
        : { grant: await makeGrant(request, answer, at, context) };
    const decided = await app.accessRequests.decide(request.id, { by: actor.userId, at, ...decision });
    if (!decided) return refuseClosed(kind, request.id);
    return (await notifyAccessRequest(request.id, app)) ?? decided;
  },
  follow: async ({ workspaceId, requesterId, state }, { app }) => {
    if (state === 'approved') app.homeRedraw.redraw(workspaceId, [requesterId]);
  },
});

/** "approve viewer web-1 U012AB3CD for 60 min", "deny owner U012AB3CD: not on call this week". */
function auditLabel({ role, pattern, requesterId: subjectId }: AccessRequest, answer: AccessAnswer): string {
  const given = answer.kind === 'approve' ? answer : {};
  const what = describeForAudit({ role, pattern, subjectId, ...given });
  const reason = answer.kind === 'deny' && answer.reason !== undefined ? `: ${answer.reason}` : '';
  return `${answer.kind} ${what}${reason}`;
}

/** @throws Refusal `beyond_request`, `owner_limited`, `no_grantee` */
async function makeGrant(
  request: AccessRequest,
  { role = request.role, pattern = request.pattern, forMs }: Approval,
  grantedAt: number,
  { actor, app }: Pick<UseCaseContext, 'actor' | 'app'>,
): Promise<NewGrant> {
  const { workspaceId, requesterId } = request;
  // A request is for every server or for one: the only narrower patterns are those of a request for every server.
  const isWithin = pattern === request.pattern || request.pattern === EVERY_SERVER;
  if (!roleCovers(request.role, role) || !isWithin)
    throw new Refusal('beyond_request', { role: request.role });
  if (role === 'owner' && pattern !== EVERY_SERVER) throw new Refusal('owner_limited', {});
  const grantee = { subjectKind: 'user', subjectId: requesterId } as const;
  await checkGrantee(grantee, { actor, app });
  const until = forMs === undefined ? undefined : grantedAt + forMs;
  const grant = { ...grantee, workspaceId, role, pattern, grantedBy: actor.userId, grantedAt };
  return { ...grant, until };
}

type Context = UseCaseContext;

/**
 * The requester withdraws one access request, or without an ID all of theirs that are open. If an owner answers at the same
 * moment, one of the two takes effect.
 * @throws Refusal `request_over`, `not_requester`, `no_open_request`
 */
export const withdrawAccessRequest = defineUseCase({
  name: 'access_withdraw',
  needs: 'anyone',
  effect: 'changes',
  run: async ({ id }: { id?: ConfirmationId }, context): Promise<readonly AccessRequest[]> => {
    const { actor, app, setSubject } = context;
    const requests =
      id === undefined ? await listOwn(context) : [await getDecision(accessKind(app), id, actor)];
    const label = requests.map(({ requesterId: subjectId, ...rest }) =>
      describeForAudit({ ...rest, subjectId }),
    );
    setSubject({ label: label.join(', ') });
    return Promise.all(requests.map((request) => withdraw(request, context)));
  },
});

/** @throws Refusal `no_open_request` */
async function listOwn({ actor, app }: Context): Promise<readonly AccessRequest[]> {
  const open = await app.accessRequests.listOpen(actor.workspaceId);
  const own = open.filter(
    ({ requesterId, expiresAt }) => requesterId === actor.userId && expiresAt > app.system.now(),
  );
  if (own.length === 0) throw new Refusal('no_open_request', {});
  return own;
}

async function withdraw(request: AccessRequest, { actor, app }: Context): Promise<AccessRequest> {
  const { id } = request;
  refuseOthersRequest(request, actor);
  const by = { requesterId: actor.userId, at: app.system.now() };
  const withdrawn = await app.accessRequests.withdraw(id, by);
  if (!withdrawn) return refuseClosed(accessKind(app), id);
  return (await notifyAccessRequest(id, app)) ?? withdrawn;
}

/** Access requests: decided by an owner. They go to owners directly, since a reason may be private. */
function accessKind(app: AppContext): DecisionKind<AccessRequest> {
  return {
    name: 'access request',
    app,
    store: app.accessRequests,
    notifier: app.accessNotifier,
    findDeciders: async (request) => ({ userIds: await listDeciders(request, app) }),
    auditOfExpiry: ({ workspaceId, role, pattern, requesterId }) =>
      makeAuditEntry(app, {
        workspaceId,
        actorId: THE_APP,
        surface: 'background',
        action: 'access_answer',
        label: [role, pattern, requesterId].filter(Boolean).join(' '),
        outcome: 'failed',
        code: 'expired',
      }),
    notifiesRequesterWhenUnreached: false,
    // The form that sends the request says so itself.
    confirmsToRequester: false,
    knownStates: ['replaced', 'withdrawn'],
  };
}

/** The owners who can answer a request, as far as they are known by id; the requester can't. */
async function listDeciders(
  { workspaceId, requesterId }: AccessRequest,
  app: AppContext,
): Promise<readonly UserId[]> {
  return (await listOwners(workspaceId, app)).filter((owner) => owner !== requesterId);
}

/** Notifies users of an access request's state, as `notifyDecision` says; returns the request as it is then. */
export async function notifyAccessRequest(
  id: ConfirmationId,
  app: AppContext,
): Promise<AccessRequest | undefined> {
  return notifyDecision(accessKind(app), id);
}

/** Expires access requests, and sends the notifications that a crash or a Slack outage has left unsent. */
export async function sweepAccessRequests(app: AppContext, startedAt: number): Promise<void> {
  await sweepDecisions(accessKind(app), startedAt);
}

/** After this time the requester may have done it long ago, or another user has. */
const CONTINUE_MS = DAY_MS;

/**
 * Finds the command for which a user requested a role, once the role was granted. It only finds it: running it goes through
 * the permission check like any other command.
 * @throws Refusal `continuation_over` when the role was not granted, has ended, or was granted too long ago
 */
export const findGrantedCommand = defineUseCase({
  name: 'access_continue',
  needs: 'anyone',
  effect: 'reads',
  run: async ({ id }: { id: ConfirmationId }, { actor, app }): Promise<string> => {
    const request = await app.accessRequests.find(id);
    const isOwn = request?.workspaceId === actor.workspaceId && request.requesterId === actor.userId;
    const command = isOwn ? request.command : undefined;
    if (command !== undefined && request && isCurrent(request, app.system.now())) return command;
    throw new Refusal('continuation_over', { command });
  },
});

function isCurrent({ state, decidedAt = 0, until }: AccessRequest, now: number): boolean {
  return state === 'approved' && now < decidedAt + CONTINUE_MS && (until === undefined || now < until);
}
