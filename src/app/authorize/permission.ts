import { coversRole, strongestRole } from '../../domain/access.ts';
import type { Actor, Role } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import { isSameLabel } from '../../domain/label.ts';
import type { AppContext } from '../ports.ts';
import { withTimeout } from '../with-timeout.ts';
import { ALL_ROLES, belongsToWorkspace, type KnownRoles, lookUpRoles, NO_ROLES } from './find-roles.ts';
import { listOwners } from './list-role-holders.ts';
import type { FreshOption } from './ports.ts';
import type { Caller, UseCaseSpec } from './use-case.ts';
import { checkWorkflowKey } from './workflow-permission.ts';

/**
 * The one permission check (docs/design.md 3): returns the roles that the actor holds in this place.
 * `isEnough` decides whether the roles that are known without asking Slack are enough.
 * @throws Refusal `other_workspace`, `other_organization`, `role_needed`, `identity_unknown`, `workflow_key_invalid`
 */
export async function checkPermission(
  useCase: UseCaseSpec,
  caller: Caller,
  app: AppContext,
  isEnough: (own: KnownRoles['held'], needed: Role) => boolean,
  options: FreshOption = {},
): Promise<KnownRoles> {
  const { needs } = useCase;
  const { actor, surface } = caller;
  // A user who can run programs on the machine has the database and its keys anyway.
  if (surface === 'cli') return ALL_ROLES;
  const isServed = await app.installations.isServed(actor.workspaceId);
  if (isServed === undefined) throw new Refusal('identity_unknown', {});
  if (!isServed) throw new Refusal('other_workspace', {});
  if (surface === 'workflow') return checkWorkflowKey(useCase, caller, app);
  if (!(await belongsToWorkspace(actor, app))) throw await describeOutsider(actor, app);
  if (needs === 'anyone') return NO_ROLES;
  const roles = await lookUpRoles(actor, app, (own) => isEnough(own, needs), options);
  if (!coversRole(roles.held, needs)) throw await describeMissingRole(needs, roles, actor, app);
  return roles;
}

/** In an Enterprise Grid a member may be at home in another workspace: without the scope, the app can't know (docs/slack.md). */
async function describeOutsider(actor: Actor, { users }: AppContext): Promise<Refusal> {
  const isHidden = (await users.exists(actor.workspaceId, actor.userId)) === 'hidden';
  return new Refusal('other_organization', isHidden ? { missingScope: 'users:read' } : {});
}

const OWNERS_TIMEOUT_MS = 300;

/** The refusal with the role that is needed, the one that is held, and the owners who could grant it. */
export async function describeMissingRole(
  needed: Role,
  roles: KnownRoles,
  actor: Actor,
  app: AppContext,
  server?: { readonly label: string; readonly typed: string },
): Promise<Refusal> {
  if (coversRole(roles.possible, needed, server?.label)) return new Refusal('identity_unknown', {});
  // Naming the owners is a courtesy: it must not delay the refusal when Slack is slow.
  const owners = await withTimeout(listOwners(actor.workspaceId, app), app.system, OWNERS_TIMEOUT_MS);
  const held = strongestRole(roles.held);
  return new Refusal('role_needed', {
    needed,
    owners: owners ?? [],
    held,
    label: server && findKnownLabel(server, roles),
  });
}

/** An ID, an address or the beginning of a label must not tell the label to users whose roles are for other servers. */
function findKnownLabel(
  { label, typed }: { readonly label: string; readonly typed: string },
  { held }: KnownRoles,
): string {
  return isSameLabel(typed, label) || coversRole(held, 'viewer', label) ? label : '';
}
