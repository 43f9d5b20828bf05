import type { SeenRequests } from '../../app/authorize/ports.ts';
import type { Caller } from '../../app/authorize/use-case.ts';
import type { StepIntake } from '../../app/workflows/receive-step.ts';
import { textMessage } from '../kit/blocks.ts';
import type { ActionHandler } from '../kit/button.ts';
import type { Command, Suggestions } from '../kit/command.ts';
import type { ModalHandler } from '../kit/modal.ts';
import type { Shortcut } from '../kit/shortcut.ts';
import type { NextSteps } from './failures.ts';
import type { HomePublisher } from './home-publisher.ts';
import { findReplyUrl, replyByUrl } from './reply.ts';
import type { SlackRequest } from './request.ts';
import type { RequestParts } from './request-parts.ts';
import type { Revocation } from './revocations.ts';
import type { SlackConnections } from './slack-api.ts';
import type { EndStep } from './step-ends.ts';

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
