import type { RequestPlace } from '../../app/installations/ports.ts';
import type { StepEvent } from '../../app/workflows/receive-step.ts';
import { Secret } from '../../domain/secret.ts';
import { STEP } from '../kit/step.ts';
import { describeRefusedPlace } from './admission.ts';
import { placeOfEvent } from './event-place.ts';
import { stepPayload } from './payloads.ts';
import type { Routing } from './routing.ts';

/**
 * Stores an execution of our step, which Slack's library leaves unacknowledged until then: one that can't be stored comes again.
 * What follows is done after the ack; undefined where there is nothing to do.
 */
export async function dispatchStep(
  body: unknown,
  routing: Routing,
): Promise<(() => Promise<void>) | undefined> {
  const step = readStep(body);
  if (!step) return undefined;
  const { event, place, isOurs } = step;
  const refused = isOurs ? await describeRefusedPlace(place, routing) : UNKNOWN_STEP;
  if (refused === undefined) return routing.steps.receive(event);
  return async () => {
    await routing.endStep(event, { error: withoutLinks(refused) });
  };
}

const UNKNOWN_STEP = 'This version of the app doesn’t have this step. Nothing was done.';

/** A step's error is plain text. */
function withoutLinks(words: string): string {
  return words.replace(/<[^|>]*\|([^>]*)>/g, '$1');
}

interface Step {
  readonly event: StepEvent;
  readonly place: RequestPlace;
  readonly isOurs: boolean;
}

function readStep(body: unknown): Step | undefined {
  const read = stepPayload.safeParse(body).data;
  if (!read) return undefined;
  const { event } = read;
  const place = placeOfEvent(read);
  const { action, server, key, channel } = event.inputs;
  return {
    place,
    isOurs: event.function.id === STEP.id,
    event: {
      workspaceId: place.workspaceId,
      executionId: event.function_execution_id,
      action,
      server,
      key: secretOf(key),
      sentAt: read.event_time === undefined ? undefined : read.event_time * 1000,
      channelId: channel === '' ? undefined : channel,
      token: secretOf(event.bot_access_token),
    },
  };
}

function secretOf(text: string): Secret<string> | undefined {
  const trimmed = text.trim();
  return trimmed === '' ? undefined : new Secret(trimmed);
}
