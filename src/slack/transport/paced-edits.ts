import { LRUCache } from 'lru-cache';
import type { Channels } from '../../app/access/ports.ts';
import type { Card } from '../../domain/decision.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { System } from '../../system.ts';
import type { Message } from '../kit/blocks.ts';
import type { MayAnnounce } from './announcements.ts';
import { withFallback } from './fallback.ts';
import { MESSAGE_GONE } from './message-gone.ts';
import type { SlackClients } from './slack-clients.ts';

/** The result of an edit in the background. */
export type Edited =
  | { readonly kind: 'shown' }
  /** The message was deleted, or its channel may no longer get it. */
  | { readonly kind: 'gone' }
  /** Nothing was sent, or Slack didn't take it: what is shown then should be what is true then. */
  | { readonly kind: 'later'; readonly afterMs: number };

/** Edits a message in a channel for the background: once, and never in the way of what users press. */
export type PacedEdit = (workspaceId: WorkspaceId, card: Card, message: Message) => Promise<Edited>;

interface Parts {
  readonly clients: SlackClients;
  readonly channels: Pick<Channels, 'isShared'>;
  readonly mayAnnounce: MayAnnounce;
  readonly system: Pick<System, 'elapsed'>;
}

/** Slack takes about 50 `chat.update` a minute of an app in a workspace: half of them stay for what users press. */
const EDITS_A_MINUTE = 25;
const AGAIN_MS = 15_000;
const MOST_WORKSPACES = 1000;

export function createPacedEdits({ clients, channels, mayAnnounce, system }: Parts): PacedEdit {
  const paces = new LRUCache<WorkspaceId, Pace>({ max: MOST_WORKSPACES });
  const paceOf = (workspaceId: WorkspaceId) => {
    const pace = paces.get(workspaceId) ?? { edits: [], quietUntil: 0 };
    paces.set(workspaceId, pace);
    return pace;
  };
  return async (workspaceId, card, message) => {
    if (!(await mayAnnounce(workspaceId, card.channelId))) {
      const isShared = await channels.isShared(workspaceId, card.channelId);
      return isShared === undefined ? { kind: 'later', afterMs: AGAIN_MS } : { kind: 'gone' };
    }
    const pace = paceOf(workspaceId);
    const waitMs = takeTurn(pace, system.elapsed());
    if (waitMs > 0) return { kind: 'later', afterMs: waitMs };
    const slack = clients.of(workspaceId);
    const answer = await withFallback(message, (shown) => slack.updateMessage(card, shown, false));
    if (answer.ok) return { kind: 'shown' };
    if (MESSAGE_GONE.includes(answer.error)) return { kind: 'gone' };
    const { retryAfterMs: afterMs = AGAIN_MS } = answer;
    if (answer.retryAfterMs !== undefined) pace.quietUntil = system.elapsed() + afterMs;
    return { kind: 'later', afterMs };
  };
}

/** The edits of one workspace, on the monotonic clock. */
interface Pace {
  edits: number[];
  /** Slack said that there were too many. */
  quietUntil: number;
}

/** How long to wait for a turn; 0 when this is one. */
function takeTurn(pace: Pace, now: number): number {
  if (pace.quietUntil > now) return pace.quietUntil - now;
  pace.edits = pace.edits.filter((at) => now - at < MINUTE_MS);
  const [oldest = now] = pace.edits;
  if (pace.edits.length >= EDITS_A_MINUTE) return MINUTE_MS - (now - oldest);
  pace.edits.push(now);
  return 0;
}
