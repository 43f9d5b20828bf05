/** The thread that a user acts in, or whose first message they act on: the outcome is announced there. */
export interface Thread {
  /** The `ts` of its first message. */
  readonly ts: string;
  /** It has replies: only then Slack shows ephemeral messages in it (Slack, `chat.postEphemeral`). */
  readonly isOpen: boolean;
}
