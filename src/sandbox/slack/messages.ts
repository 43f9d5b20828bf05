import { nameBlocks } from './block-ids.ts';
import { pruneEntered } from './entered.ts';
import type { Ids } from './ids.ts';
import type { Journal } from './journal.ts';
import type { SlackSnapshot } from './snapshot.ts';
import type { MessageDraft, StoredMessage } from './stored-message.ts';

/** The messages of each channel that outlive the process. */
const STORED_PER_CHANNEL = 2000;

/** All messages of the workspace, ephemeral ones included. */
export class Messages {
  readonly #ids: Ids;
  readonly #journal: Journal;
  readonly #messages = new Map<string, StoredMessage>();
  #order = 0;

  constructor(ids: Ids, journal: Journal, stored: SlackSnapshot['messages'] = []) {
    this.#ids = ids;
    this.#journal = journal;
    for (const { threadTs, ...message } of stored)
      this.#restore({ ...message, threadTs: threadTs ?? undefined });
  }

  post(draft: MessageDraft): StoredMessage {
    this.#order += 1;
    const message: StoredMessage = {
      channel: draft.channel,
      ts: this.#ids.ts(),
      user: draft.user,
      text: draft.text,
      blocks: nameBlocks(draft.blocks, this.#ids),
      attachments: draft.attachments ?? [],
      to: draft.to,
      threadTs: draft.threadTs,
      edited: false,
      order: this.#order,
      entered: new Map(),
    };
    this.#messages.set(keyOf(message.channel, message.ts), message);
    this.#journal.emit({ type: 'message', message });
    return message;
  }

  change(message: StoredMessage, text: string, blocks: unknown): StoredMessage {
    this.#order += 1;
    const named = nameBlocks(blocks, this.#ids);
    const changed = { ...message, text, blocks: named, edited: true, order: this.#order };
    for (const values of changed.entered.values()) pruneEntered(named, values);
    this.#messages.set(keyOf(message.channel, message.ts), changed);
    this.#journal.emit({ type: 'message_changed', message: changed });
    return changed;
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

  /** What one user sees in a channel, oldest first. */
  visibleTo(userId: string, channel: string): readonly StoredMessage[] {
    return [...this.#messages.values()].filter(
      (message) => message.channel === channel && (message.to === undefined || message.to === userId),
    );
  }

  /** Ephemeral messages don't outlive the client (Slack's chat.postEphemeral page). */
  forgetEphemeralsOf(userId: string): void {
    for (const message of [...this.#messages.values()]) if (message.to === userId) this.remove(message);
  }

  /** Removes all messages of a channel. */
  forgetChannel(channel: string): void {
    for (const message of [...this.#messages.values()]) if (message.channel === channel) this.remove(message);
  }

  /** The highest order given so far. */
  get order(): number {
    return this.#order;
  }

  all(): readonly StoredMessage[] {
    return [...this.#messages.values()];
  }

  /** The messages that a whole channel can see; ephemeral ones are never stored. */
  snapshot(): SlackSnapshot['messages'] {
    const left = new Map<string, number>();
    const stored = this.all()
      .filter(({ to }) => to === undefined)
      .reverse()
      .filter(({ channel }) => {
        const count = left.get(channel) ?? STORED_PER_CHANNEL;
        left.set(channel, count - 1);
        return count > 0;
      });
    return stored.reverse().map(({ channel, ts, user, text, blocks, attachments, threadTs, edited }) => {
      const content = { text, blocks: [...blocks], attachments: [...attachments] };
      return { channel, ts, user, ...content, threadTs: threadTs ?? null, edited };
    });
  }

  #restore(message: Omit<StoredMessage, 'to' | 'order' | 'entered'>): void {
    this.#order += 1;
    const whole = { ...message, to: undefined, order: this.#order, entered: new Map() };
    this.#messages.set(keyOf(message.channel, message.ts), whole);
  }
}

const keyOf = (channel: string, ts: string) => `${channel}/${ts}`;
