import { createHash } from 'node:crypto';

/**
 * The ID of a delivery by what Slack's signature vouches for: the time and the body, both read as Bolt reads them. The header
 * itself would not do: only its part up to a second `=` is verified, so that a copy could be given a new one.
 */
export function deliveryId(timestamp: unknown, rawBody: Buffer): string {
  return createHash('sha256')
    .update(`v0:${Number(timestamp)}:`)
    .update(rawBody.toString())
    .digest('hex');
}

/**
 * The ID of a request by what Slack names it, which is the same when Slack signs the request again. Undefined when a part
 * is missing or empty: such an ID would be shared by different requests.
 */
export function namedId(...parts: readonly (string | undefined)[]): string | undefined {
  if (parts.some((part) => !part)) return undefined;
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
