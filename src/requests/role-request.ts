import { checkGrantee, type NewGrant } from '../access/grants.ts';
import { type AuditDetails, auditRoles } from '../core/audit-entry.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { EVERY_SERVER, exactPattern } from '../core/labels.ts';
import { findRoles } from '../core/permission.ts';
import { coversRole, type HeldRoles, type Role, roleCovers } from '../core/roles.ts';
import { DAY_MS, HOUR_MS, WEEK_MS } from '../core/time.ts';
import {
  findDeciders,
  getRequest,
  notifyRequest,
  refuseClosed,
  refuseOthersRequest,
  refuseOwnRequest,
  withGuest,
} from './notify.ts';
import { ROLES_ASKED, type RoleRequest } from './request.ts';

/** How long a denied request can't be repeated. A user can make at most three requests in this time. */
const REPEAT_MS = HOUR_MS;
/** How long a request stays open; after that, its reason no longer matters. */
const OPEN_MS = WEEK_MS;

/** A role, on the server of this label or on all. */
export interface WantedRole {
  readonly role: Role;
  readonly label?: string;
}

/** @throws Refusal `owner_limited`: nobody can be given such a role */
export function checkWantedRole({ role, label }: WantedRole): void {
  if (role === 'owner' && label !== undefined) throw new Refusal('owner_limited', {});
}

/**
 * Requests a role from the owners, for one server or for all. While no owner has been reached, repeating it returns the
 * same request.
 * @throws Refusal `owner_limited`, `role_held`, `asked_before`, `asked_enough`, `no_grantee`
 */
export const requestAccess = defineUseCase({
  name: 'access_ask',
  needs: 'anyone',
  effect: 'changes',
  subject: ({ role, label: pattern = EVERY_SERVER }) => ({ details: auditRoles([{ role, pattern }]) }),
  run: async (
    input: WantedRole & { id: ConfirmationId; reason: string; command?: string | undefined },
    { actor, app },
  ) => {
    const { id, role, label, reason, command } = input;
    const { workspaceId, userId: requesterId, channelId } = actor;
    checkWantedRole(input);
    if (isHeld(await findRoles(actor, app), role, label)) throw new Refusal('role_held', { role });
    await checkGrantee({ subjectKind: 'user', subjectId: requesterId }, { actor, app });
    const requestedAt = app.system.now();
    const pattern = label === undefined ? EVERY_SERVER : exactPattern(label);
    const times = { requestedAt, expiresAt: requestedAt + OPEN_MS };
    const asked = { kind: 'role', role, pattern, reason, command } as const;
    const { isNew, request } = await app.requests.requestRole(
      { id, workspaceId, requesterId, channelId, ...asked, ...times },
      requestedAt - REPEAT_MS,
    );
    if (!isNew) refuseRepeated(request);
    await notifyRequest(request.id, app);
    const notified = (await app.requests.find(request.id, ROLES_ASKED)) ?? request;
    // `owners`: who can answer; empty if none is known by ID.
    return { request: notified, owners: (await findDeciders(request, app)).userIds };
  },
});

/** @throws Refusal `asked_before`, unless the request has reached no owner yet */
function refuseRepeated({ requestedAt: at, state, cards }: RoleRequest): void {
  if (state === 'open' && cards.length === 0) return;
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
  | { readonly kind: 'deny' };

/** Finds an open request, for the form in which it is answered. @throws Refusal `request_over`, `own_request` */
export const readRoleRequest = defineUseCase({
  name: 'access_answer',
  needs: 'owner',
  effect: 'reads',
  run: async ({ id }: { id: ConfirmationId }, { actor, app }): Promise<RoleRequest> => {
    const request = await getRequest(id, ROLES_ASKED, actor, app);
    refuseOwnRequest(request, actor);
    return request.state === 'open' ? withGuest(request, app.users) : refuseClosed(id, app);
  },
});

/** @throws Refusal `request_over`, `own_request`, `beyond_request`, `owner_limited`, `no_grantee` */
export const answerRoleRequest = defineUseCase({
  name: 'access_answer',
  needs: 'owner',
  effect: 'changes',
  run: async (input: { id: ConfirmationId; answer: AccessAnswer }, context): Promise<RoleRequest> => {
    const { actor, app, setSubject } = context;
    const { id, answer } = input;
    const request = await getRequest(id, ROLES_ASKED, actor, app);
    setSubject({ details: auditAnswer(request, answer) });
    refuseOwnRequest(request, actor);
    const [at, by] = [app.system.now(), actor.userId];
    const decided =
      answer.kind === 'deny'
        ? await app.requests.move<RoleRequest>(id, ['open'], { state: 'denied', at, by })
        : await app.requests.grantRole(id, { at, by, grant: await makeGrant(request, answer, at, context) });
    if (!decided) return refuseClosed(id, app);
    await notifyRequest(id, app);
    return decided;
  },
});

/** What the audit says about an answer: the role that it is about, or that is granted. */
function auditAnswer(
  { role, pattern, requesterId: subjectId }: RoleRequest,
  answer: AccessAnswer,
): AuditDetails {
  const given = answer.kind === 'approve' ? answer : {};
  const details = auditRoles([{ role, pattern, subjectId, ...given }]);
  return { ...details, answer: answer.kind };
}

/** @throws Refusal `beyond_request`, `owner_limited`, `no_grantee` */
async function makeGrant(
  request: RoleRequest,
  { role = request.role, pattern = request.pattern, forMs }: Extract<AccessAnswer, { kind: 'approve' }>,
  grantedAt: number,
  { actor, app }: UseCaseContext,
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

/**
 * The requester withdraws one access request, or without an ID all of theirs that are open. If an owner answers at the same
 * moment, one of the two takes effect.
 * @throws Refusal `request_over`, `not_requester`, `no_open_request`
 */
export const withdrawRoleRequest = defineUseCase({
  name: 'access_withdraw',
  needs: 'anyone',
  effect: 'changes',
  run: async ({ id }: { id?: ConfirmationId }, context): Promise<readonly RoleRequest[]> => {
    const { actor, app, setSubject } = context;
    const requests =
      id === undefined ? await listOwn(context) : [await getRequest(id, ROLES_ASKED, actor, app)];
    const roles = requests.map(({ role, pattern, requesterId: subjectId }) => ({ role, pattern, subjectId }));
    setSubject({ details: auditRoles(roles) });
    return Promise.all(requests.map((request) => withdraw(request, context)));
  },
});

async function listOwn({ actor, app }: UseCaseContext): Promise<readonly RoleRequest[]> {
  const open = await app.requests.listOpen(actor.workspaceId, ROLES_ASKED, app.system.now());
  const own = open.filter(({ requesterId }) => requesterId === actor.userId);
  if (own.length === 0) throw new Refusal('no_open_request', {});
  return own;
}

async function withdraw(request: RoleRequest, { actor, app }: UseCaseContext): Promise<RoleRequest> {
  const { id } = request;
  refuseOthersRequest(request, actor);
  const to = { state: 'withdrawn', at: app.system.now(), by: actor.userId } as const;
  const withdrawn = await app.requests.move<RoleRequest>(id, ['open'], to);
  if (!withdrawn) return refuseClosed(id, app);
  await notifyRequest(id, app);
  return withdrawn;
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
    const request = await app.requests.find(id, ROLES_ASKED);
    const isOwn = request?.workspaceId === actor.workspaceId && request.requesterId === actor.userId;
    const command = isOwn ? request.command : undefined;
    const { state, decidedAt = 0, granted } = request ?? {};
    const now = app.system.now();
    const isOver = now >= decidedAt + CONTINUE_MS || now >= (granted?.until ?? now + 1);
    if (command === undefined || state !== 'approved' || isOver)
      throw new Refusal('continuation_over', { command });
    return command;
  },
});
