import type { EnteredValues } from './entered.ts';
import type { Json } from './page-api.ts';

/** A message as the local Slack stores it. */
export interface StoredMessage {
  readonly channel: string;
  readonly ts: string;
  readonly user: string;
  readonly text: string;
  readonly blocks: readonly Json[];
  /** What older integrations post beside blocks. */
  readonly attachments: readonly Json[];
  /** The only user who sees it; undefined: the whole channel. */
  readonly to: string | undefined;
  readonly threadTs: string | undefined;
  readonly edited: boolean;
  /** Grows with every post and change, so that one can ask for what is new. */
  readonly order: number;
  /** By user id. */
  readonly entered: Map<string, EnteredValues>;
}

export interface MessageDraft {
  readonly channel: string;
  readonly user: string;
  readonly text: string;
  readonly blocks?: unknown;
  readonly attachments?: readonly Json[];
  readonly to?: string;
  readonly threadTs?: string;
}

/** What this user entered into this message; changes to it are stored. */
export function enteredBy(message: StoredMessage, userId: string): EnteredValues {
  const known = message.entered.get(userId) ?? new Map();
  message.entered.set(userId, known);
  return known;
}
