import type { Account } from './accounts.ts';
import type { WireServer } from './server-record.ts';
import type { Servers } from './servers.ts';

/** Servers that were deleted, for a service that goes on listing them; forgotten with the process. */
export class DeletedServers {
  readonly #byAccount = new Map<number, { id: number; label: string; ipv4: string; paid_until: string }[]>();

  /** Removes a server and keeps what the list said about it until then. */
  keep<Answer extends { readonly id: number }>(
    account: Account,
    servers: Servers,
    remove: () => Answer,
  ): Answer {
    const before = servers.list(account);
    const answer = remove();
    const gone = before.filter(({ id }) => id === answer.id);
    this.#byAccount.set(account.id, [...(this.#byAccount.get(account.id) ?? []), ...gone]);
    return answer;
  }

  list(account: Account): WireServer[] {
    return (this.#byAccount.get(account.id) ?? []).map((server) => ({ ...server, state: 'deleted' }));
  }
}
