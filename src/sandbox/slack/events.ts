import { setTimeout as sleep } from 'node:timers/promises';
import { readAck } from './acks.ts';
import { type Delivery, NO_ANSWER } from './deliver.ts';
import type { Json } from './page-api.ts';
import { type EventSource, eventEnvelope } from './payloads.ts';
import { isSubscribed } from './subscriptions.ts';
import type { World } from './world.ts';

/** Slack sends an event again at once, after a minute and after five more (Slack's "Events API" page). */
export const RETRY_DELAYS_MS: readonly number[] = [0, 60_000, 300_000];

/**
 * Sends one event of the Events API, if the app subscribes to it; one that is not acknowledged comes again later, newly
 * signed. Resolves with the first try; undefined: the app doesn't subscribe to it.
 */
export async function sendEvent(
  world: World,
  event: Json,
  from?: EventSource,
): Promise<Delivery | undefined> {
  // An app that has never listened anywhere can't be late with an acknowledgment.
  const isReachable = world.app.isSocketMode || world.app.commandsUrl !== '';
  if (!isReachable || !isSubscribed(world, event)) return undefined;
  const body = JSON.stringify(eventEnvelope(world, event, from));
  const what = `event ${String(event.type)}`;
  const first = await world.deliverer.send(what, 'json', body);
  const { ok } = readAck(world, first);
  const isRepeated = world.faults.takeRepeatedEvent();
  if (!ok || isRepeated)
    void retry(world, what, body, ok ? { ...first, response: NO_ANSWER, status: null } : first);
  return first;
}

async function retry(world: World, what: string, body: string, failed: Delivery): Promise<void> {
  let last = failed;
  for (const [index, delayMs] of world.app.eventRetryDelaysMs.entries()) {
    if (last.responseHeaders['x-slack-no-retry'] === '1') return;
    await sleep(delayMs, undefined, { ref: false });
    last = await world.deliverer.send(`${what} (retry ${index + 1})`, 'json', body, {
      'x-slack-retry-num': String(index + 1),
      'x-slack-retry-reason': reasonOf(last),
    });
    if (last.status === 200) return;
  }
}

function reasonOf({ status, response }: Delivery): string {
  if (status !== null) return 'http_error';
  return response === NO_ANSWER ? 'http_timeout' : 'connection_failed';
}
