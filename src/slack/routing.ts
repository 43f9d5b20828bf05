import type { SeenRequests } from '../core/directory.ts';
import type { Caller } from '../core/entry.ts';
import { DatabaseUnreachable } from '../core/errors.ts';
import type { Admission, RequestPlace } from '../installations/installations.ts';
import type { StepIntake } from '../workflows/run.ts';
import type { EndStep } from './dispatch-events.ts';
import { type ExplainParts, explainError, type NextSteps } from './failures.ts';
import type { HomePublisher } from './home-publisher.ts';
import { textMessage } from './kit/blocks.ts';
import type { ActionHandler } from './kit/button.ts';
import type { Command, Shortcut, Suggestions } from './kit/command.ts';
import type { ModalHandler } from './kit/modal.ts';
import { escapeText } from './kit/text.ts';
import type { Revocation } from './oauth.ts';
import { findReplyUrl, replyByUrl } from './reply.ts';
import type { Reply, RequestParts, SlackRequest } from './request.ts';
import type { SlackConnections } from './slack-api.ts';

/** How a request reached us. */
export interface Delivery {
  /** Different for every delivery; absent where the transport has none. What Slack itself names a request comes first. */
  readonly requestId?: string;
  /** Slack has sent it before, and has seen no acknowledgment. */
  readonly isRepeated?: boolean;
  /** Resolves when the request has been acknowledged. */
  readonly answered: Promise<void>;
}

/** What dispatch routes to, found by the subcommand that was typed. */
export interface Routes {
  readonly runCommand: (text: string, request: SlackRequest) => Promise<void>;
  readonly commands: readonly Pick<Command, 'actions' | 'modals' | 'suggestions'>[];
  readonly shortcuts: readonly Shortcut[];
  readonly nextSteps: NextSteps;
}

/** What requests are routed with. */
export interface DispatchParts extends RequestParts {
  readonly slackApiUrl: string;
  readonly connections: Pick<SlackConnections, 'clock'>;
  readonly home: HomePublisher;
  readonly seenRequests: Pick<SeenRequests, 'addAll'>;
  readonly steps: StepIntake;
  readonly endStep: EndStep;
  /** Absent where the app can't be installed by OAuth: then there is nothing to erase. */
  readonly onRevocation?: ((revocation: Revocation) => Promise<void>) | undefined;
}

export interface Routing extends DispatchParts, Pick<Routes, 'runCommand' | 'nextSteps'> {
  readonly actions: ReadonlyMap<string, ActionHandler>;
  readonly modals: ReadonlyMap<string, ModalHandler>;
  readonly suggestions: ReadonlyMap<string, Suggestions>;
  readonly shortcuts: ReadonlyMap<string, Shortcut>;
}

export function createRouting(routes: Routes, parts: DispatchParts): Routing {
  const { runCommand, commands, shortcuts, nextSteps } = routes;
  const byId = <Handler extends { readonly id: string }>(handlers: readonly Handler[]) =>
    new Map(handlers.map((handler) => [handler.id, handler]));
  return {
    ...parts,
    runCommand,
    nextSteps,
    actions: byId(commands.flatMap(({ actions }) => actions)),
    modals: byId(commands.flatMap(({ modals }) => modals)),
    suggestions: byId(commands.flatMap(({ suggestions }) => suggestions)),
    shortcuts: byId(shortcuts),
  };
}

/** The caller of a request. What Slack itself names it comes before what the transport does. */
export function callerOf(
  actor: Caller['actor'],
  surface: Caller['surface'],
  requestId: string | undefined,
  { requestId: delivered, answered }: Delivery,
): Caller {
  return { actor, surface, answered, requestId: requestId ?? delivered };
}

export const UNREADABLE = 'Slack sent something that this app can’t read, so nothing was done.';

/** It is signed, so it is from Slack, but in no form that is known. */
export async function sendUnreadable(body: unknown, routing: Routing): Promise<void> {
  const url =
    typeof body === 'object' && body !== null && 'response_url' in body ? body.response_url : undefined;
  const reply = replyByUrl(findReplyUrl(url, routing.slackApiUrl), { userId: '' }, routing.clients.of(''));
  await reply.send(textMessage(UNREADABLE));
}

/** Decides whether a request from there is handled at all, before anything else is looked at. */
export type Admit = (place: RequestPlace) => Promise<Admission>;

/** What a request is admitted with. */
export interface AdmissionParts {
  /** Absent where the app serves one workspace: then the entry refuses all others, which is audited. */
  readonly admit?: Admit | undefined;
  readonly publicUrl: string | undefined;
}

/** Why a request from there is not handled, in escaped mrkdwn; undefined if it is. Nothing is audited, since no one could read it there. */
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
  not_allowed: () => 'This workspace may not use this app. Ask the person who runs the app to allow it.',
  no_workspace: () =>
    'Slack didn’t say which workspace this is about, so nothing was done. Run the command again.',
  unknown: () => 'Slack didn’t say whether vps is installed in this workspace. Try again in a minute.',
};

/** The same; if only the database could tell and can't be reached, it says so. `hasBegun` is as in `explainError`. */
export function describeRefusal(
  place: RequestPlace,
  parts: AdmissionParts & ExplainParts,
  hasBegun: boolean | undefined,
): Promise<string | undefined> {
  return describeRefusedPlace(place, parts).catch((error: unknown) => {
    if (!(error instanceof DatabaseUnreachable)) throw error;
    return explainError(error, { ...parts, currency: '', hasBegun });
  });
}

/** Answers a request from a place that is not served, as far as that works without its token. */
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
