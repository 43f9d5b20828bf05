import { randomUUID } from 'node:crypto';
import { readJson } from '../json.ts';

/** What Slack sends over a WebSocket: a payload, and what it takes to acknowledge it (Slack's "Using Socket Mode" page). */
export interface Envelope {
  readonly envelope_id: string;
  readonly type: 'slash_commands' | 'interactive' | 'events_api';
  /** False: the acknowledgment must have no payload. */
  readonly accepts_response_payload: boolean;
  /** An object, unless a test makes up something else. */
  readonly payload: unknown;
  readonly retry_attempt?: number;
  readonly retry_reason?: string;
}

/** Puts what would be posted over HTTP into an envelope; `headers`: what an event that comes again says of itself. */
export function envelopeOf(
  kind: 'form' | 'json',
  body: string,
  headers: Readonly<Record<string, string>>,
): Envelope {
  const envelope_id = randomUUID();
  if (kind === 'json') {
    const retry_attempt = Number(headers['x-slack-retry-num'] ?? 0);
    const retry_reason = (headers['x-slack-retry-reason'] ?? '').replace(/^http_/, '');
    const event = { type: 'events_api', accepts_response_payload: false, payload: contentOf(body) } as const;
    return { envelope_id, ...event, retry_attempt, retry_reason };
  }
  const fields = Object.fromEntries(new URLSearchParams(body));
  const accepted = { envelope_id, accepts_response_payload: true };
  return fields.payload === undefined
    ? { ...accepted, type: 'slash_commands', payload: fields }
    : { ...accepted, type: 'interactive', payload: contentOf(fields.payload) };
}

/** What is no JSON is carried as text. */
function contentOf(text: string): unknown {
  return readJson(text) ?? (text.trim() === 'null' ? null : text);
}
