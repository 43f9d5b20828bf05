import { type EnteredValues, nameBlocks, pruneEntered } from './entered.ts';
import type { Journal } from './journal.ts';
import type { Json, MessageContent } from './page-api.ts';
import type { Ids } from './world.ts';

export interface StoredMessage extends MessageContent {
  /** The only user who sees it; undefined: the whole channel. */
  readonly to: string | undefined;
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

export function enteredBy(message: StoredMessage, userId: string): EnteredValues {
  const known = message.entered.get(userId) ?? new Map();
  message.entered.set(userId, known);
  return known;
}

/** All messages of the workspace, ephemeral ones included. */
export class Messages {
  readonly #ids: Ids;
  readonly #journal: Journal;
  readonly #messages = new Map<string, StoredMessage>();
  #order = 0;

  constructor(ids: Ids, journal: Journal) {
    this.#ids = ids;
    this.#journal = journal;
  }

  post(draft: MessageDraft): StoredMessage {
    return this.#store('message', {
      to: undefined,
      ...draft,
      ts: this.#ids.ts(),
      blocks: nameBlocks(draft.blocks, this.#ids),
      attachments: draft.attachments ?? [],
      edited: false,
      reactions: [],
      entered: new Map(),
    });
  }

  change(message: StoredMessage, text: string, blocks: unknown): StoredMessage {
    const named = nameBlocks(blocks, this.#ids);
    for (const values of message.entered.values()) pruneEntered(named, values);
    return this.#store('message_changed', { ...message, text, blocks: named, edited: true });
  }

  react(message: StoredMessage, reaction: string): void {
    this.#store('message_changed', { ...message, reactions: [...message.reactions, reaction] });
  }

  #store(type: 'message' | 'message_changed', content: Omit<StoredMessage, 'order'>): StoredMessage {
    this.#order += 1;
    const message = { ...content, order: this.#order };
    this.#messages.set(keyOf(message.channel, message.ts), message);
    this.#journal.emit({ type, message });
    return message;
  }

  remove(message: StoredMessage): void {
    if (!this.#messages.delete(keyOf(message.channel, message.ts))) return;
    this.#journal.emit({ type: 'message_deleted', message });
  }

  find(channel: string, ts: string): StoredMessage | undefined {
    return this.#messages.get(keyOf(channel, ts));
  }

  /** The replies of a thread that everyone in the channel sees. */
  repliesTo(channel: string, ts: string): readonly StoredMessage[] {
    return this.all().filter(
      (each) => each.channel === channel && each.threadTs === ts && each.ts !== ts && each.to === undefined,
    );
  }

  visibleTo(userId: string, channel: string): readonly StoredMessage[] {
    return this.all().filter(
      (message) => message.channel === channel && (message.to === undefined || message.to === userId),
    );
  }

  /** Ephemeral messages don't outlive the client (Slack's chat.postEphemeral page). */
  forgetEphemeralsOf(userId: string): void {
    for (const message of this.all()) if (message.to === userId) this.remove(message);
  }

  forgetChannel(channel: string): void {
    for (const message of this.all()) if (message.channel === channel) this.remove(message);
  }

  /** The highest order given so far. */
  get order(): number {
    return this.#order;
  }

  all(): readonly StoredMessage[] {
    return [...this.#messages.values()];
  }
}

const keyOf = (channel: string, ts: string) => `${channel}/${ts}`;
