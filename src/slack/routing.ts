import type { Caller } from '../core/entry.ts';
import type { SeenRequests } from '../db/kept.ts';
import type { Admission, RequestPlace } from '../installations/installations.ts';
import type { StepEvent } from '../workflows/run.ts';
import type { HomePublisher } from './home-publisher.ts';
import { textMessage } from './kit/blocks.ts';
import type { Handlers, Shortcut } from './kit/command.ts';
import { escapeText } from './kit/text.ts';
import type { EndStep } from './outbox.ts';
import type { Revocation } from './payloads.ts';
import { type ExplainParts, explainError, findReplyUrl, type NextSteps, replyByUrl } from './reply.ts';
import type { Reply, RequestParts, SlackRequest } from './request.ts';
import type { SlackConnections } from './slack-api.ts';

export interface Delivery {
  /** Identifies a request that Slack doesn't name; absent if the transport has none. */
  readonly requestId?: string;
  /** Whether Slack has delivered the request before, without an acknowledgment. */
  readonly isRepeated?: boolean;
  /** Whether someone other than Slack may have sent it: then its answer goes to its user alone, not to the sender. */
  readonly mayBeReplay?: boolean;
  /** Resolves when the request has been acknowledged. */
  readonly answered: Promise<void>;
}

export interface Routes {
  /** Runs the subcommand at the beginning of the text. @throws what the feature throws */
  readonly runCommand: (text: string, request: SlackRequest) => Promise<void>;
  readonly commands: readonly Handlers[];
  readonly shortcuts: readonly Shortcut[];
  readonly nextSteps: NextSteps;
}

export interface DispatchParts extends RequestParts {
  readonly slackApiUrl: string;
  readonly connections: SlackConnections;
  readonly home: HomePublisher;
  readonly seenRequests: SeenRequests;
  /** Stores an execution of the app's step. Returns the work for after the ack; undefined if it was stored before. */
  readonly receiveStep: (event: StepEvent) => Promise<(() => Promise<void>) | undefined>;
  readonly endStep: EndStep;
  /** Handles an uninstall; absent if the app can't be installed by OAuth, so that there is nothing to erase. */
  readonly onRevocation?: ((revocation: Revocation) => Promise<void>) | undefined;
}

export type Routing = ReturnType<typeof createRouting>;

export function createRouting(routes: Routes, parts: DispatchParts) {
  const { commands, shortcuts } = routes;
  const byId = <Handler extends { readonly id: string }>(handlers: readonly Handler[]) =>
    new Map(handlers.map((handler) => [handler.id, handler]));
  return {
    ...parts,
    ...routes,
    actions: byId(commands.flatMap(({ actions }) => actions)),
    modals: byId(commands.flatMap(({ modals }) => modals)),
    suggestions: byId(commands.flatMap(({ suggestions }) => suggestions)),
    shortcuts: byId(shortcuts),
  };
}

/** Makes the caller of a request. `requestId`, from what Slack names the request, comes before the ID of its delivery. */
export function callerOf(
  actor: Caller['actor'],
  surface: Caller['surface'],
  requestId: string | undefined,
  { requestId: delivered, answered }: Delivery,
): Caller {
  return { actor, surface, answered, requestId: requestId ?? delivered };
}

export const UNREADABLE = 'Slack sent something that this app can’t read, so nothing was done.';

/** Answers a request from Slack that has no known shape, through its `response_url`. Without one, only the log says so. */
export async function sendUnreadable(body: unknown, routing: Routing): Promise<void> {
  const url =
    typeof body === 'object' && body !== null && 'response_url' in body ? body.response_url : undefined;
  const reply = replyByUrl(findReplyUrl(url, routing.slackApiUrl), { userId: '' }, routing.clients.of(''));
  if (!(await reply.send(textMessage(UNREADABLE))))
    routing.log.warn('a request from Slack could be neither read nor answered');
}

export interface AdmissionParts {
  /**
   * Decides whether requests from a place are handled at all, before anything else. Absent if the app serves one workspace: then the
   * entry refuses all others, and audits that.
   */
  readonly admit?: ((place: RequestPlace) => Promise<Admission>) | undefined;
  readonly publicUrl: string | undefined;
}

/**
 * Describes why requests from a place are not handled, in escaped mrkdwn; undefined if they are. Audits nothing, since nobody could
 * read it there. @throws what the store throws
 */
export async function describeRefusedPlace(
  place: RequestPlace,
  { admit, publicUrl }: AdmissionParts,
): Promise<string | undefined> {
  const admission = (await admit?.(place)) ?? 'served';
  if (admission === 'served') return undefined;
  return WORDS[admission](`<${escapeText(`${publicUrl}/slack/install`)}|Install it>`);
}

const WORDS: Readonly<Record<Exclude<Admission, 'served'>, (install: string) => string>> = {
  not_installed: (install) => `vps isn’t installed in this workspace. ${install}, then try again.`,
  refused: (install) =>
    `Slack no longer accepts this app’s token, so vps can’t do anything here. ${install} again.`,
  not_allowed: () =>
    'This workspace isn’t allowed to use this app. Ask the person who runs the app to allow it.',
  no_workspace: () =>
    'Slack didn’t say which workspace this is about, so nothing was done. Run the command again.',
  unknown: () => 'Slack didn’t say whether vps is installed in this workspace. Try again in a minute.',
};

/**
 * As `describeRefusedPlace`, but also says why that couldn't be found out: the database can't be reached, or the token can't be read.
 * `hasBegun` is as in `explainError`.
 */
export function describeRefusal(
  place: RequestPlace,
  parts: AdmissionParts & ExplainParts,
  hasBegun: boolean | undefined,
): Promise<string | undefined> {
  return describeRefusedPlace(place, parts).catch((error: unknown) =>
    explainError(error, { ...parts, hasBegun }),
  );
}

/** Whether requests from a place are refused; if so, replies why, as far as that works without a token. */
export async function isRefused(
  place: RequestPlace,
  reply: Reply,
  parts: AdmissionParts & ExplainParts,
  { hasBegun }: { readonly hasBegun: boolean | undefined },
): Promise<boolean> {
  const words = await describeRefusal(place, parts, hasBegun);
  if (words !== undefined) await reply.send(textMessage(words));
  return words !== undefined;
}
