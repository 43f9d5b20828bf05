export interface Typing {
  /** The command reaches the app even from a user of another organization, as if Slack had let it through. */
  readonly isForced?: boolean;
}

export interface Confirming {
  /** false: the user declines in the confirmation dialog. */
  readonly confirm?: boolean;
}
