import { mayAnnounce } from '../app/account/announcements.ts';
import { createCurrencyOf } from '../app/account/currency.ts';
import type { SlackAbilities, Workspaces } from '../app/account/ports.ts';
import type { Entry } from '../app/authorize/entry.ts';
import type { OutcomeThreads, ReplyUrls } from '../app/authorize/ports.ts';
import type { Homes } from '../app/home/homes-port.ts';
import type { AppContext } from '../app/ports.ts';
import type { ActMessages, FollowedActs } from '../app/servers/ports.ts';
import { createStepIntake } from '../app/workflows/receive-step.ts';
import type { UserId, WorkspaceId } from '../domain/ids.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { createAccessNotifier } from './access/notifier.ts';
import { installedMessage } from './account/connect-messages.ts';
import { createConnectNotifier } from './account/connect-notifier.ts';
import { createAccountNotifier } from './account/notifier.ts';
import { createApprovalNotifier } from './approvals/notifier.ts';
import { commands } from './commands.ts';
import { createAdmins } from './directory/admins.ts';
import { createChannels } from './directory/channels.ts';
import { createGroups } from './directory/groups.ts';
import { createUsers } from './directory/users.ts';
import { home, homeScreen } from './home/home.ts';
import { nextSteps } from './next-steps.ts';
import { createOperationNotifier } from './purchases/notifier.ts';
import { createBatchNotifier } from './reminders/batch-notifier.ts';
import { createReminderNotifier } from './reminders/notifier.ts';
import { runCommand } from './run-command.ts';
import { createFollowNotifier } from './servers/follow-notifier.ts';
import { shortcuts } from './servers/shortcuts.ts';
import { createAcknowledgedViews } from './transport/acknowledged-views.ts';
import type { Admit } from './transport/admission.ts';
import { createChannelTest } from './transport/channel-test.ts';
import { createDispatch, type Dispatch } from './transport/dispatch.ts';
import { explainError } from './transport/explain-error.ts';
import { createFollowedViews } from './transport/followed-views.ts';
import { createHomePublisher } from './transport/home-publisher.ts';
import { createHomeTouches, type HomeTouches } from './transport/home-touch.ts';
import { createOutbox } from './transport/outbox.ts';
import { NO_REPLY } from './transport/reply-paths.ts';
import { createRequest } from './transport/request-factory.ts';
import type { Revocation } from './transport/revocations.ts';
import type { DispatchParts } from './transport/routing.ts';
import type { SlackConnections } from './transport/slack-api.ts';
import type { SlackClients } from './transport/slack-clients.ts';
import { createEndStep } from './transport/step-ends.ts';

import { createWorkflowNotifier } from './workflows/notifier.ts';

/** All that the app needs of Slack, and what Slack needs of the app. */
export interface Slack {
  /** What the use cases look up in Slack, and how they notify users. */
  readonly ports: Pick<
    AppContext,
    | 'users'
    | 'groups'
    | 'admins'
    | 'channels'
    | 'channelTest'
    | 'connectNotifier'
    | 'slackAbilities'
    | 'operationNotifier'
    | 'followNotifier'
    | 'approvalNotifier'
    | 'accessNotifier'
    | 'accountNotifier'
    | 'reminderNotifier'
    | 'batchNotifier'
    | 'homeRedraw'
    | 'workflowNotifier'
  >;
  createDispatch(entry: Entry, ports: AppContext): Dispatch;
  /** Tells a user who has installed the app what comes next. */
  greetInstaller(workspaceId: WorkspaceId, userId: UserId): Promise<boolean>;
  /** Puts an error into the words that a user reads. */
  explain(error: unknown): string;
}

export interface SlackOptions {
  readonly clients: SlackClients;
  readonly connections: Pick<SlackConnections, 'open' | 'clock'>;
  readonly abilities: SlackAbilities;
  readonly workspaces: Pick<Workspaces, 'find'>;
  readonly replyUrls: ReplyUrls;
  readonly outcomeThreads: OutcomeThreads;
  readonly followedActs: Pick<FollowedActs, 'place' | 'forget'>;
  readonly actMessages: ActMessages;
  readonly homes: Homes;
  readonly system: System;
  readonly log: Log;
  readonly currency: string;
  readonly accountUrl: string | undefined;
  readonly publicUrl: string | undefined;
  /** Decides which requests are handled, where several workspaces can install the app. */
  readonly admit?: Admit | undefined;
  readonly onRevocation?: ((revocation: Revocation) => Promise<void>) | undefined;
  readonly slackApiUrl: string;
}

/** Puts Slack's side together. */
export function createSlack(options: SlackOptions): Slack {
  const { clients, workspaces, system, log, accountUrl } = options;
  const currencyOf = createCurrencyOf(workspaces, options.currency);
  const channels = createChannels(clients, system);
  const homeTouches = createHomeTouches();
  const shared = {
    ...options,
    currencyOf,
    channels,
    endStep: createEndStep(options.connections, clients),
    followedViews: createFollowedViews(),
    touchHome: homeTouches.touch,
    acknowledgedViews: createAcknowledgedViews(system),
    mayAnnounce: (workspaceId: string, channelId: string | undefined) =>
      mayAnnounce(workspaceId, channelId, workspaces, channels),
  };
  const outbox = createOutbox(shared);
  return {
    ports: {
      users: createUsers(clients, system),
      groups: createGroups(clients, system),
      admins: createAdmins(clients, system),
      channels,
      channelTest: createChannelTest(clients, channels),
      slackAbilities: options.abilities,
      homeRedraw: { redraw: homeTouches.redraw },
      ...createNotifiers({ outbox, log, currencyOf, accountUrl }),
    },
    createDispatch: (entry, ports) => openDispatch({ ...shared, entry }, ports, homeTouches),
    greetInstaller: (workspaceId, userId) => outbox.sendDirectly(workspaceId, userId, installedMessage()),
    explain: (error) => explainError(error, options),
  };
}

type Parts = Omit<DispatchParts, 'home' | 'seenRequests' | 'steps'> & Pick<SlackOptions, 'homes'>;

function openDispatch(parts: Parts, ports: AppContext, homeTouches: HomeTouches): Dispatch {
  const publisher = createHomePublisher({
    ...parts,
    screen: homeScreen,
    requestFor: (workspaceId, userId, channelId) => {
      const caller = { actor: { workspaceId, userId, channelId }, surface: 'home' as const };
      return createRequest(parts, caller, NO_REPLY, undefined);
    },
  });
  homeTouches.listen(publisher);
  const routes = { runCommand, commands: [...commands, home], shortcuts, nextSteps };
  const steps = createStepIntake(parts.entry, ports);
  return createDispatch(routes, {
    ...parts,
    home: publisher,
    seenRequests: ports.seenRequests,
    steps,
  });
}

/** How users are notified, by each feature. */
function createNotifiers(parts: Parameters<typeof createOperationNotifier>[0]) {
  return {
    connectNotifier: createConnectNotifier(parts),
    operationNotifier: createOperationNotifier(parts),
    followNotifier: createFollowNotifier(parts),
    approvalNotifier: createApprovalNotifier(parts),
    accessNotifier: createAccessNotifier(parts),
    accountNotifier: createAccountNotifier(parts),
    reminderNotifier: createReminderNotifier(parts),
    batchNotifier: createBatchNotifier(parts),
    workflowNotifier: createWorkflowNotifier(parts),
  };
}
