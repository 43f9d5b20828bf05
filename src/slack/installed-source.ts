import type { Workspaces } from '../account/workspaces.ts';
import { describeDefect } from '../core/errors.ts';
import type { WorkspaceId } from '../core/ids.ts';
import type { Secret } from '../core/secret.ts';
import type { InstalledWorkspaces, Suspicion } from '../installations/installations.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { isTokenRefused, lacksMessagesTab, type SlackAbilities } from './abilities.ts';
import type { SeenAnswer, SlackConnections } from './slack-api.ts';

/** Learns from Slack's answers in installed workspaces, and has an installation checked if Slack refuses its token. */
export function watchInstalled(
  { suspect }: InstalledWorkspaces,
  abilities: SlackAbilities,
  log: Log,
): (workspaceId: WorkspaceId, seen: SeenAnswer) => void {
  const check = (workspaceId: WorkspaceId, error: Suspicion) => {
    suspect(workspaceId, error).catch((cause: unknown) => {
      log.error('an installation could not be checked', describeDefect(cause));
    });
  };
  return (workspaceId, seen) => {
    abilities.watch(workspaceId, seen);
    if (isTokenRefused(seen.error)) check(workspaceId, 'token_refused');
    if (seen.error === 'team_access_not_granted') check(workspaceId, seen.error);
  };
}

/** A fault in `/readyz`, since cards and late outcomes can't be sent. */
const NO_MESSAGES_TAB =
  'Slack refuses direct messages (messages_tab_disabled): turn on the app’s Messages tab, or import manifest.yml again';
const WHOLE_ORGANIZATION =
  'SLACK_BOT_TOKEN is for a whole organization, and this app serves one workspace: install it in that workspace and set its token';
const RETRY_MS = 5000;
/** How often the token is tested, since Slack may not report that it was revoked. */
const LOOK_AGAIN_MS = 3 * 60_000;

/**
 * Creates the source for the one workspace of `SLACK_BOT_TOKEN`. Serves none before Slack has said which one that is. `connect` asks
 * it once, and starts to repeat that: until it answers, then every 3 minutes. `watch` learns from an answer of Slack, and tests the
 * token at once if Slack refuses it.
 */
export function createSingleWorkspace(options: {
  readonly open: SlackConnections['open'];
  readonly botToken: Secret<string>;
  readonly storeWorkspace: Workspaces['put'];
  readonly abilities: SlackAbilities;
  readonly system: System;
  readonly log: Log;
  readonly signal: AbortSignal;
}) {
  const { botToken, abilities, system, log, signal } = options;
  const slack = options.open(async () => ({ token: botToken }));
  let served: WorkspaceId | undefined;
  let fault: string | undefined = 'The app hasn’t asked Slack yet which workspace it is in';
  const fail = (found: string): void => {
    fault = found;
    log.error(found);
  };
  const look = async (): Promise<void> => {
    const answer = await slack.whoAmI();
    if (answer.ok && answer.isOrgInstall) {
      served = undefined;
      return fail(WHOLE_ORGANIZATION);
    }
    if (answer.ok && answer.workspaceId !== '') {
      if (fault === undefined && answer.workspaceId === served) return;
      await options.storeWorkspace({ id: answer.workspaceId, name: answer.workspaceName }, system.now());
      log.info('connected to Slack', { workspace: answer.workspaceId });
      served = answer.workspaceId;
      fault = undefined;
      return;
    }
    const reason = answer.ok ? 'no_team' : answer.error;
    if (isTokenRefused(reason))
      fail(
        `Slack rejected SLACK_BOT_TOKEN (${reason}). Copy the xoxb- token again from the app’s “Install App” page`,
      );
    // A known workspace is still served during an outage of Slack.
    else if (served === undefined) fail(`Slack can’t be reached (${reason})`);
  };
  let looking: Promise<void> | undefined;
  /** Looks, or waits for the look that is under way. An error, such as an unreachable database, is corrected by the next look. */
  const lookSafely = (): Promise<void> => {
    looking ??= look()
      .catch((error: unknown) => log.error('the workspace could not be looked up', describeDefect(error)))
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
  const keepLooking = async (): Promise<void> => {
    while (!signal.aborted) {
      await system.sleep(fault === undefined ? LOOK_AGAIN_MS : RETRY_MS, signal).catch(() => undefined);
      if (!signal.aborted) await lookSafely();
    }
  };
  return {
    isServed: async (workspaceId: WorkspaceId) => (served === undefined ? undefined : workspaceId === served),
    find: async (workspaceId: WorkspaceId) => (workspaceId === served ? { token: botToken } : undefined),
    connect: async (): Promise<void> => {
      await lookSafely();
      void keepLooking();
    },
    watch: (workspaceId: WorkspaceId, seen: SeenAnswer): void => {
      abilities.watch(workspaceId, seen);
      if (fault === undefined && isTokenRefused(seen.error)) void lookSafely();
    },
    /** Lists what keeps the app from working, a sentence each. */
    faults: (): readonly string[] => {
      const isUnwritable = served !== undefined && lacksMessagesTab(abilities.read(served));
      return [...(fault === undefined ? [] : [fault]), ...(isUnwritable ? [NO_MESSAGES_TAB] : [])];
    },
  };
}
