import type { Workspaces } from '../../app/account/ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import type { SlackConnections } from './slack-api.ts';
import type { TokenSource } from './slack-clients.ts';

/** The token is refused permanently: waiting does not help. */
const PERMANENT_ERRORS = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'];
const RETRY_MS = 5000;

/** The one workspace that `SLACK_BOT_TOKEN` is for. */
export interface SingleWorkspace extends TokenSource {
  /** Asks Slack once which workspace the token is for, and goes on asking in the background until it says. */
  connect(): Promise<void>;
  /** What keeps the app from working, in a sentence each; empty when the workspace is known. */
  faults(): readonly string[];
}

interface Options {
  readonly connections: SlackConnections;
  readonly botToken: Secret<string>;
  readonly workspaces: Pick<Workspaces, 'put'>;
  readonly system: System;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** No workspace is served until Slack has said which one the token is for, and never any other one. */
export function createSingleWorkspace(options: Options): SingleWorkspace {
  const { botToken, system, signal } = options;
  const slack = options.connections.open(async () => botToken);
  let known: WorkspaceId | undefined;
  let fault: string | undefined = 'Slack has not been asked yet which workspace this is';
  const attempt = async (): Promise<void> => {
    const answer = await slack.whoAmI();
    const reason = answer.ok ? (answer.workspaceId === '' ? 'no_team' : undefined) : answer.error;
    if (answer.ok && reason === undefined) {
      const workspace = { id: answer.workspaceId, name: answer.workspaceName };
      await options.workspaces.put(workspace, system.now());
      options.log.info('connected to Slack', { workspace: answer.workspaceId });
      known = answer.workspaceId;
      fault = undefined;
      return;
    }
    fault = PERMANENT_ERRORS.includes(reason ?? '')
      ? `Slack does not accept SLACK_BOT_TOKEN (${reason})`
      : `Slack can’t be reached (${reason})`;
    options.log.error(fault);
  };
  const keepTrying = async (): Promise<void> => {
    while (fault !== undefined && !signal.aborted) {
      await system.sleep(RETRY_MS, signal).catch(() => undefined);
      if (!signal.aborted) await attempt();
    }
  };
  return {
    isServed: async (workspaceId) => (known === undefined ? undefined : workspaceId === known),
    find: async (workspaceId) => (workspaceId === known ? botToken : undefined),
    connect: async () => {
      await attempt();
      void keepTrying();
    },
    faults: () => (fault === undefined ? [] : [fault]),
  };
}
