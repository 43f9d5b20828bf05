import type { ServerId } from '../../domain/ids.ts';
import { isDeleted } from '../../domain/server.ts';
import type { HostingApi } from '../hosting-api.ts';
import { findUnanswered, type UnansweredCode } from './unanswered.ts';

/** What became of a delete that was sent. `gone` has proof: an answer that says `deleted`, or a complete list without the server. */
export type DeleteOutcome =
  | { readonly kind: 'gone' }
  /** `isListed`: whether a list right after still had the server; undefined if the list could not tell. */
  | { readonly kind: 'unconfirmed'; readonly code: UnansweredCode; readonly isListed: boolean | undefined };

/**
 * Deletes a server, and looks at the list where the answer proves nothing.
 * Money effect: the rest of the paid month is lost (docs/hosting-api.md 3).
 * @throws HostingError with proof that it was not deleted; what else prevents the request
 */
export async function sendDelete(id: ServerId, hosting: HostingApi): Promise<DeleteOutcome> {
  const code = await send(id, hosting);
  if (code === undefined) return { kind: 'gone' };
  const isListed = await findListed(id, hosting);
  return isListed === false ? { kind: 'gone' } : { kind: 'unconfirmed', code, isListed };
}

/** Why the answer is no proof; undefined if it is one. */
async function send(id: ServerId, hosting: HostingApi): Promise<UnansweredCode | undefined> {
  try {
    return (await hosting.deleteServer(id)) ? undefined : 'unreadable_answer';
  } catch (error) {
    const code = findUnanswered(error);
    if (code === undefined) throw error;
    return code;
  }
}

/** Whether the account still has the server; undefined if the list is incomplete or can't be read. */
export async function findListed(id: ServerId, hosting: HostingApi): Promise<boolean | undefined> {
  try {
    const { servers, extent } = await hosting.fetchServers({ freshness: 'fresh' });
    const server = servers.find((one) => one.id === id);
    if (server) return !isDeleted(server);
    return extent === 'whole' ? false : undefined;
  } catch {
    return undefined;
  }
}
