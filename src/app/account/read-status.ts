import { coversRole } from '../../domain/access.ts';
import { type Approval, labelOfAction } from '../../domain/approval.ts';
import { type HostingError, isExpected, type Refusal } from '../../domain/errors.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import type { ListExtent } from '../../domain/server.ts';
import type { PurchaseFreeze, WorkspaceSettings } from '../../domain/settings.ts';
import type { Channels } from '../access/ports.ts';
import type { Approvals } from '../approvals/ports.ts';
import { findRoles, type RolePorts } from '../authorize/find-roles.ts';
import type { Installations } from '../authorize/ports.ts';
import { type UseCaseContext, useCasesOver } from '../authorize/use-case.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { Ledger, Passwords } from '../purchases/ports.ts';
import type { SeenAbilities, SlackAbilities, Workspaces } from './ports.ts';

/** What `status` reads. */
export interface StatusPorts extends RolePorts {
  readonly ledger: Pick<Ledger, 'listOpen' | 'hasNewer'>;
  readonly passwords: Pick<Passwords, 'listHeld'>;
  readonly approvals: Pick<Approvals, 'listOpen'>;
  readonly workspaces: Pick<Workspaces, 'find'>;
  readonly channels: Pick<Channels, 'isShared'>;
  readonly slackAbilities: SlackAbilities;
  readonly installations: Installations;
}

const defineUseCase = useCasesOver<StatusPorts>();

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
    const { ports } = context;
    const { workspaceId } = context.actor;
    const all = await ports.ledger.listOpen(workspaceId);
    const open = all.filter(({ purchase }) => context.covers(labelOf(purchase)));
    const hasNewer = await ports.ledger.hasNewer(workspaceId);
    const held = await ports.passwords.listHeld(workspaceId);
    const waiting = await listWaiting(context);
    const settings = (await ports.workspaces.find(workspaceId))?.settings;
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
  { actor, ports }: UseCaseContext<StatusPorts>,
  settings: WorkspaceSettings | undefined,
): Promise<SlackStatus> {
  const { workspaceId, userId, channelId = '' } = actor;
  await Promise.all([
    ports.users.exists(workspaceId, userId),
    ports.groups.list(workspaceId),
    // A direct message is no channel.
    channelId.startsWith('D') || channelId === '' || ports.channels.isShared(workspaceId, channelId),
  ]);
  const announces = settings?.announces ?? false;
  const needsInstall = (await ports.installations.needsInstall?.(workspaceId)) ?? false;
  return { abilities: ports.slackAbilities.read(workspaceId), announces, needsInstall };
}

async function tryApi({ hosting: open, ports }: UseCaseContext<StatusPorts>): Promise<ApiStatus> {
  try {
    const hosting = await open();
    const startedAt = ports.system.elapsed();
    const { servers, extent } = await hosting.fetchServers({ freshness: 'fresh' });
    const answerMs = Math.round(ports.system.elapsed() - startedAt);
    return { isUsable: true, servers: servers.length, extent, answerMs, budget: hosting.budget() };
  } catch (error) {
    if (!isExpected(error)) throw error;
    return { isUsable: false, error };
  }
}

async function listWaiting(context: UseCaseContext<StatusPorts>): Promise<readonly WaitingApproval[]> {
  const { actor, ports } = context;
  const now = ports.system.now();
  const open = await ports.approvals.listOpen(actor.workspaceId);
  const waiting = open.filter(
    ({ expiresAt, action }) => expiresAt > now && context.covers(labelOfAction(action)),
  );
  if (waiting.length === 0) return [];
  const roles = await findRoles(actor, ports);
  return waiting.map((approval) => ({
    approval,
    isOwn: approval.requesterId === actor.userId,
    canAnswer:
      approval.requesterId !== actor.userId && coversRole(roles, 'manager', labelOfAction(approval.action)),
  }));
}
