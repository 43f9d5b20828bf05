import type { Workspaces } from '../../app/account/ports.ts';
import { describeDefect } from '../../domain/errors.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../log.ts';
import type { System } from '../../system.ts';
import type { SeenAnswer, SlackConnections } from './slack-api.ts';
import type { TokenSource } from './slack-clients.ts';
import { PROBLEM_WORDS, type SeenProblems } from './slack-problems.ts';

/** The token is refused permanently: waiting does not help. */
const PERMANENT_ERRORS = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'];
const RETRY_MS = 5000;
/** A token can be revoked at any time, and Slack may tell nobody. */
const LOOK_AGAIN_MS = 3 * 60_000;

/** The one workspace that `SLACK_BOT_TOKEN` is for. */
export interface SingleWorkspace extends TokenSource {
  /** Asks Slack which workspace the token is for, until it says; and now and then whether the token still works. */
  connect(): Promise<void>;
  /** Learns from an answer: looks at once whether the token still works when it says that it may not. */
  watch(workspaceId: WorkspaceId, seen: SeenAnswer): void;
  /** What keeps the app from working, in a sentence each; empty when the workspace is known. */
  faults(): readonly string[];
}

interface Options {
  readonly connections: SlackConnections;
  readonly botToken: Secret<string>;
  readonly workspaces: Pick<Workspaces, 'put'>;
  readonly problems: SeenProblems;
  readonly system: System;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** No workspace is served until Slack has said which one the token is for, and never any other one. */
export function createSingleWorkspace(options: Options): SingleWorkspace {
  const { botToken, problems, system, signal } = options;
  const slack = options.connections.open(async () => botToken);
  let known: WorkspaceId | undefined;
  let fault: string | undefined = 'Slack has not been asked yet which workspace this is';
  const attempt = async (): Promise<void> => {
    const answer = await slack.whoAmI();
    const reason = answer.ok ? (answer.workspaceId === '' ? 'no_team' : undefined) : answer.error;
    if (answer.ok && reason === undefined) {
      if (fault === undefined && answer.workspaceId === known) return;
      const workspace = { id: answer.workspaceId, name: answer.workspaceName };
      await options.workspaces.put(workspace, system.now());
      options.log.info('connected to Slack', { workspace: answer.workspaceId });
      known = answer.workspaceId;
      fault = undefined;
      return;
    }
    const isPermanent = PERMANENT_ERRORS.includes(reason ?? '');
    // A workspace that is known is served through a short outage of Slack.
    if (known !== undefined && !isPermanent) return;
    fault = isPermanent
      ? `Slack does not accept SLACK_BOT_TOKEN (${reason})`
      : `Slack can’t be reached (${reason})`;
    options.log.error(fault);
  };
  let running: Promise<void> | undefined;
  const look = (): Promise<void> => {
    running ??= attempt().finally(() => {
      running = undefined;
    });
    return running;
  };
  const keepLooking = async (): Promise<void> => {
    while (!signal.aborted) {
      await system.sleep(fault === undefined ? LOOK_AGAIN_MS : RETRY_MS, signal).catch(() => undefined);
      if (!signal.aborted) await look().catch((error: unknown) => logDefect(error, options.log));
    }
  };
  return {
    isServed: async (workspaceId) => (known === undefined ? undefined : workspaceId === known),
    find: async (workspaceId) => (workspaceId === known ? botToken : undefined),
    connect: async () => {
      await look();
      void keepLooking();
    },
    watch: (workspaceId, seen) => {
      problems.watch(workspaceId, seen);
      const { error } = seen;
      if (fault !== undefined || !PERMANENT_ERRORS.includes(error ?? '')) return;
      void look().catch((defect: unknown) => logDefect(defect, options.log));
    },
    faults: () => {
      const isUnwritable = known !== undefined && problems.list(known).includes('messages_tab_disabled');
      const found = [fault, isUnwritable ? PROBLEM_WORDS.messages_tab_disabled : undefined];
      return found.filter((each) => each !== undefined);
    },
  };
}

function logDefect(error: unknown, log: Log): void {
  log.error('the workspace could not be looked up', describeDefect(error));
}
