import type { PageMessage } from '../../../slack/page-api.ts';

/** The replies to a message, as its channel shows them: how many, and when the last one came. */
export interface Replies {
  readonly count: number;
  readonly lastTs: string;
}

/** What a channel shows: no replies, except those to a message that is gone. */
export function messagesOfChannel(messages: readonly PageMessage[]): readonly PageMessage[] {
  const all = new Set(messages.map(({ ts }) => ts));
  return messages.filter(
    ({ ts, threadTs }) => threadTs === undefined || threadTs === ts || !all.has(threadTs),
  );
}

/** What a thread shows: its first message, and the replies. */
export function messagesOfThread(messages: readonly PageMessage[], root: string): readonly PageMessage[] {
  return messages.filter(({ ts, threadTs }) => ts === root || threadTs === root);
}

/** The replies to each message that has some. */
export function countReplies(messages: readonly PageMessage[]): ReadonlyMap<string, Replies> {
  const found = new Map<string, Replies>();
  for (const { ts, threadTs } of messages) {
    if (threadTs === undefined || threadTs === ts) continue;
    found.set(threadTs, { count: (found.get(threadTs)?.count ?? 0) + 1, lastTs: ts });
  }
  return found;
}
