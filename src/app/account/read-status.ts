import { coversRole } from '../../domain/access.ts';
import { type Approval, labelOfAction } from '../../domain/approval.ts';
import { type HostingError, isExpected, type Refusal } from '../../domain/errors.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import type { ListExtent } from '../../domain/server.ts';
import type { PurchaseFreeze, WorkspaceSettings } from '../../domain/settings.ts';
import { findRoles } from '../authorize/find-roles.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { SeenAbilities } from './ports.ts';

export interface Status {
  readonly api: ApiStatus;
  /** Confirmed and not ended yet, including unconfirmed ones. */
  readonly open: readonly Operation[];
  /** Whether there are more, which only a newer version of the app can read. */
  readonly hasNewer?: boolean;
  /** Waits for a second person, oldest first. */
  readonly waiting: readonly WaitingApproval[];
  /** Root passwords that wait to be saved. */
  readonly passwordsHeld: number;
  /** Set while nothing can be bought or renewed. */
  readonly freeze?: PurchaseFreeze;
  readonly slack: SlackStatus;
}

/** What Slack allows the app in this workspace. */
export interface SlackStatus {
  readonly abilities: SeenAbilities;
  /** The app's token can't be renewed, and stops to work soon: the app has to be installed again. */
  readonly needsInstall: boolean;
  /** Whether the workspace's settings have changes announced. */
  readonly announces: boolean;
}

/** Whether the hosting API answers and accepts the workspace's key. */
export type ApiStatus =
  | {
      readonly isUsable: true;
      readonly servers: number;
      /** How much of the list they are. */
      readonly extent: ListExtent;
      readonly answerMs: number;
      readonly budget: ReturnType<HostingApi['budget']>;
    }
  | { readonly isUsable: false; readonly error: HostingError | Refusal };

export interface WaitingApproval {
  readonly approval: Approval;
  /** Whether the reader of the status may approve it. */
  readonly canAnswer: boolean;
  /** Whether the reader requested it. */
  readonly isOwn: boolean;
}

/** Reads whether the API answers and accepts the key, how much of the minute is used, and what is unconfirmed. */
export const readStatus = defineUseCase({
  name: 'status',
  needs: 'viewer',
  effect: 'reads',
  run: async (_input: Record<never, never>, context): Promise<Status> => {
    const { app } = context;
    const { workspaceId } = context.actor;
    const all = await app.ledger.listOpen(workspaceId);
    const open = all.filter(({ purchase }) => context.covers(labelOf(purchase)));
    const hasNewer = await app.ledger.hasNewer(workspaceId);
    const held = await app.passwords.listHeld(workspaceId);
    const waiting = await listWaiting(context);
    const settings = (await app.workspaces.find(workspaceId))?.settings;
    const [api, slack] = await Promise.all([tryApi(context), trySlack(context, settings)]);
    return {
      api,
      open,
      hasNewer,
      passwordsHeld: held.length,
      waiting,
      slack,
      freeze: settings?.freeze,
    };
  },
});

/** The lookups are tried, which no user sees; about messages, it reports only what was observed. */
async function trySlack(
  { actor, app }: UseCaseContext,
  settings: WorkspaceSettings | undefined,
): Promise<SlackStatus> {
  const { workspaceId, userId, channelId = '' } = actor;
  await Promise.all([
    app.users.exists(workspaceId, userId),
    app.groups.list(workspaceId),
    // A direct message is no channel.
    channelId.startsWith('D') || channelId === '' || app.channels.isShared(workspaceId, channelId),
  ]);
  const announces = settings?.announces ?? false;
  const needsInstall = (await app.installations.needsInstall?.(workspaceId)) ?? false;
  return { abilities: app.slackAbilities.read(workspaceId), announces, needsInstall };
}

async function tryApi({ hosting: open, app }: UseCaseContext): Promise<ApiStatus> {
  try {
    const hosting = await open();
    const startedAt = app.system.elapsed();
    const { servers, extent } = await hosting.fetchServers({ freshness: 'fresh' });
    const answerMs = Math.round(app.system.elapsed() - startedAt);
    return { isUsable: true, servers: servers.length, extent, answerMs, budget: hosting.budget() };
  } catch (error) {
    if (!isExpected(error)) throw error;
    return { isUsable: false, error };
  }
}

async function listWaiting(context: UseCaseContext): Promise<readonly WaitingApproval[]> {
  const { actor, app } = context;
  const now = app.system.now();
  const open = await app.approvals.listOpen(actor.workspaceId);
  const waiting = open.filter(
    ({ expiresAt, action }) => expiresAt > now && context.covers(labelOfAction(action)),
  );
  if (waiting.length === 0) return [];
  const roles = await findRoles(actor, app);
  return waiting.map((approval) => ({
    approval,
    isOwn: approval.requesterId === actor.userId,
    canAnswer:
      approval.requesterId !== actor.userId && coversRole(roles, 'manager', labelOfAction(approval.action)),
  }));
}
