export interface Typing {
  /** The command reaches the app even from a user of another organization, as if Slack had let it through. */
  readonly isForced?: boolean;
  /** The name of a file that is sent with the message. */
  readonly file?: string;
}

export interface Confirming {
  /** false: the user declines in the confirmation dialog. */
  readonly confirm?: boolean;
}
