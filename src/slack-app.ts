import { createAccountNotifier, installedMessage } from './account/connect.ts';
import { mayAnnounce } from './account/workspaces.ts';
import { commands, runCommand } from './commands.ts';
import type { AppContext, Store } from './context.ts';
import type { Entry } from './core/entry.ts';
import type { UserId, WorkspaceId } from './core/ids.ts';
import { home, loadHome } from './home/home.ts';
import type { Log } from './log.ts';
import { nextSteps } from './next-steps.ts';
import { createOperationNotifier } from './purchases/outcomes.ts';
import { createReminderNotifier } from './reminders/digest-message.ts';
import { createBatchNotifier } from './reminders/renew-all.ts';
import { approvalScreen } from './requests/approval-card.ts';
import { createRequestNotifier } from './requests/notify.ts';
import { roleScreen } from './requests/role-request-card.ts';
import { shortcuts } from './servers/card.ts';
import { createDeleteNotifier } from './servers/delete-outcome.ts';
import { createFollowNotifier } from './servers/follow-words.ts';
import { createAdmins, createChannels, createGroups, createUsers } from './slack/directory.ts';
import { createDispatch, type Dispatch } from './slack/dispatch.ts';
import { createHomePublisher, type HomePublisher } from './slack/home-publisher.ts';
import { createEndStep, createOutbox, type NotifierParts } from './slack/outbox.ts';
import type { Revocation } from './slack/payloads.ts';
import type { SetupProblems } from './slack/refusals.ts';
import { explainError, NO_REPLY } from './slack/reply.ts';
import { createAcknowledgedViews, createFollowedViews, createRequest } from './slack/request.ts';
import type { AdmissionParts } from './slack/routing.ts';
import type { SlackClients, SlackConnections } from './slack/slack-api.ts';
import type { System } from './system.ts';
import { createWorkflowNotifier } from './workflows/card.ts';
import { receiveStep } from './workflows/run.ts';

/** What the app needs of Slack, and Slack of the app. */
export type Slack = ReturnType<typeof createSlack>;

export interface SlackOptions extends Store {
  readonly clients: SlackClients;
  readonly connections: SlackConnections;
  readonly setupProblems: SetupProblems;
  readonly system: System;
  readonly log: Log;
  readonly currency: string;
  readonly accountUrl: string | undefined;
  readonly publicUrl: string | undefined;
  /** Decides which requests are handled. Absent with `SLACK_BOT_TOKEN`. */
  readonly admit?: AdmissionParts['admit'];
  readonly onRevocation?: ((revocation: Revocation) => Promise<void>) | undefined;
  readonly slackApiUrl: string;
}

/** Puts Slack's side together. Sends nothing by itself. */
export function createSlack(options: SlackOptions) {
  const { clients, workspaces, system, log, currency, accountUrl } = options;
  const channels = createChannels(clients, system);
  // Created with the dispatch, since the requests that it makes need the entry.
  let publisher: HomePublisher | undefined;
  const shared = {
    ...options,
    channels,
    endStep: createEndStep(options.connections.open, clients),
    followedViews: createFollowedViews(),
    touchHome: (workspaceId: WorkspaceId, userId: UserId) => publisher?.refreshSoon(workspaceId, userId),
    acknowledgedViews: createAcknowledgedViews(system),
    mayAnnounce: (workspaceId: string, channelId: string | undefined) =>
      mayAnnounce(workspaceId, channelId, workspaces, channels),
  };
  const outbox = createOutbox(shared);
  const users = createUsers(clients, system);
  return {
    /** How use cases look things up in Slack and notify users. */
    ports: {
      users,
      groups: createGroups(clients, system),
      admins: createAdmins(clients, system),
      channels,
      postOnce: outbox.postOnce,
      setupProblems: options.setupProblems,
      ...createNotifiers({ outbox, log, currency, accountUrl, users }),
    },
    createDispatch: (entry: Entry, ports: AppContext): Dispatch => {
      const parts = { ...shared, entry };
      publisher = createHomePublisher({
        ...parts,
        load: loadHome,
        requestFor: (workspaceId, userId, channelId) =>
          createRequest(
            parts,
            { actor: { workspaceId, userId, channelId }, surface: 'home' },
            NO_REPLY,
            undefined,
          ),
      });
      const routes = { runCommand, commands: [...commands, home], shortcuts, nextSteps };
      const { seenRequests } = ports;
      return createDispatch(routes, {
        ...parts,
        home: publisher,
        seenRequests,
        receiveStep: (event) => receiveStep(event, ports),
      });
    },
    /** Sends the next steps to the user who installed the app. True if Slack took the message. */
    greetInstaller: (workspaceId: WorkspaceId, userId: UserId): Promise<boolean> =>
      outbox.sendDirectly(workspaceId, userId, installedMessage()),
    /** Describes an error for users. */
    explain: (error: unknown): string => explainError(error, options),
  };
}

/** Reports outcomes in Slack, by feature. */
export function createNotifiers(parts: NotifierParts) {
  return {
    operationNotifier: createOperationNotifier(parts),
    deleteNotifier: createDeleteNotifier(parts),
    followNotifier: createFollowNotifier(parts),
    requestNotifier: createRequestNotifier(parts, { approval: approvalScreen, role: roleScreen }),
    accountNotifier: createAccountNotifier(parts),
    reminderNotifier: createReminderNotifier(parts),
    batchNotifier: createBatchNotifier(parts),
    workflowNotifier: createWorkflowNotifier(parts),
  };
}
