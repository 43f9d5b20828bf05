import type { Workspaces } from '../account/workspaces.ts';
import { describeDefect } from '../core/errors.ts';
import type { WorkspaceId } from '../core/ids.ts';
import type { Secret } from '../core/secret.ts';
import type { InstalledWorkspaces, Suspicion } from '../installations/installations.ts';
import type { Log } from '../log.ts';
import type { System } from '../system.ts';
import { type AbilityWatch, isTokenRefused, lacksMessagesTab } from './abilities.ts';
import type { SeenAnswer, SlackApi, SlackConnections, TokenSource } from './slack-api.ts';

/** Learns from Slack's answers in installed workspaces, and has an installation checked if Slack refuses its token. */
export function watchInstalled(
  { suspect }: InstalledWorkspaces,
  abilities: AbilityWatch,
  log: Log,
): (workspaceId: WorkspaceId, seen: SeenAnswer) => void {
  const check = (workspaceId: WorkspaceId, error: Suspicion) => {
    suspect(workspaceId, error).catch((cause: unknown) => {
      log.error('an installation could not be looked at', describeDefect(cause));
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

/** The one workspace that `SLACK_BOT_TOKEN` is for. */
interface SingleWorkspace extends TokenSource {
  /** Asks Slack once which workspace the token is for, and starts to repeat that: until it answers, then every 3 minutes. */
  connect(): Promise<void>;
  /** Learns from an answer of Slack, and tests the token at once if Slack refuses it. */
  watch(workspaceId: WorkspaceId, seen: SeenAnswer): void;
  /** Lists what keeps the app from working, a sentence each. */
  faults(): readonly string[];
}

interface Options {
  readonly connections: Pick<SlackConnections, 'open'>;
  readonly botToken: Secret<string>;
  readonly workspaces: Pick<Workspaces, 'put'>;
  readonly abilities: AbilityWatch;
  readonly system: System;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Creates the source for the one workspace of `SLACK_BOT_TOKEN`. Serves none before Slack has said which one that is. */
export function createSingleWorkspace(options: Options): SingleWorkspace {
  const { botToken, abilities } = options;
  const identity = createIdentity(options);
  const look = once(() => lookAgain(identity, options));
  const lookSafely = () => look().catch((error: unknown) => logDefect(error, options.log));
  return {
    isServed: async (workspaceId) =>
      identity.workspaceId === undefined ? undefined : workspaceId === identity.workspaceId,
    find: async (workspaceId) => (workspaceId === identity.workspaceId ? { token: botToken } : undefined),
    connect: async () => {
      // An error, such as an unreachable database, is only logged: the next look corrects it.
      await lookSafely();
      void keepLooking(lookSafely, identity, options);
    },
    watch: (workspaceId, seen) => {
      abilities.watch(workspaceId, seen);
      if (identity.fault === undefined && isTokenRefused(seen.error)) void lookSafely();
    },
    faults: () => {
      const { workspaceId, fault } = identity;
      const isUnwritable = workspaceId !== undefined && lacksMessagesTab(abilities.read(workspaceId));
      const found = [fault, isUnwritable ? NO_MESSAGES_TAB : undefined];
      return found.filter((each) => each !== undefined);
    },
  };
}

/** What Slack has said about the token. */
interface Identity {
  readonly whoAmI: SlackApi['whoAmI'];
  workspaceId: WorkspaceId | undefined;
  fault: string | undefined;
}

function createIdentity({ connections, botToken }: Options): Identity {
  const slack = connections.open(async () => ({ token: botToken }));
  const fault = 'Slack has not been asked yet which workspace this is';
  return { whoAmI: () => slack.whoAmI(), workspaceId: undefined, fault };
}

async function lookAgain(identity: Identity, { workspaces, system, log }: Options): Promise<void> {
  const answer = await identity.whoAmI();
  if (answer.ok && answer.isOrgInstall) {
    identity.workspaceId = undefined;
    identity.fault = WHOLE_ORGANIZATION;
    log.error(identity.fault);
    return;
  }
  if (answer.ok && answer.workspaceId !== '') {
    if (identity.fault === undefined && answer.workspaceId === identity.workspaceId) return;
    await workspaces.put({ id: answer.workspaceId, name: answer.workspaceName }, system.now());
    log.info('connected to Slack', { workspace: answer.workspaceId });
    identity.workspaceId = answer.workspaceId;
    identity.fault = undefined;
    return;
  }
  const reason = answer.ok ? 'no_team' : answer.error;
  const isPermanent = isTokenRefused(reason);
  // A known workspace goes on being served during an outage of Slack.
  if (identity.workspaceId !== undefined && !isPermanent) return;
  identity.fault = isPermanent
    ? `Slack rejected SLACK_BOT_TOKEN (${reason}). Copy the xoxb- token again from the app’s “Install App” page`
    : `Slack can’t be reached (${reason})`;
  log.error(identity.fault);
}

async function keepLooking(
  look: () => Promise<void>,
  identity: Identity,
  { system, signal }: Options,
): Promise<void> {
  while (!signal.aborted) {
    const waitMs = identity.fault === undefined ? LOOK_AGAIN_MS : RETRY_MS;
    await system.sleep(waitMs, signal).catch(() => undefined);
    if (!signal.aborted) await look();
  }
}

/** Wraps work so that calls during a run share that run. */
function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}

function logDefect(error: unknown, log: Log): void {
  log.error('the workspace could not be looked up', describeDefect(error));
}
