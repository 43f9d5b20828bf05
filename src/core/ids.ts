declare const kind: unique symbol;

/**
 * An ID that the compiler doesn't accept in place of an ID of another kind. It accepts plain strings and numbers from outside
 * (a payload, a row, a test) as any kind, so that they need no cast.
 */
type Id<Kind extends string, Base extends string | number = string> = Base & { readonly [kind]?: Kind };

/** A Slack workspace (`T…`), or an Enterprise Grid organization (`E…`) where the app is installed for all of it. */
export type WorkspaceId = Id<'workspace'>;
/** The ID of an installation: its workspace (`T…`), or its Enterprise Grid organization (`E…`). */
export type InstallationId = WorkspaceId;
/** A Slack user (`U…`, `W…`). The audit also has actors that are no users: `app`, `command line`, `workflow` (`roles.ts`). */
export type UserId = Id<'user'>;
/** A Slack channel, private channel or direct message (`C…`, `G…`, `D…`). */
export type ChannelId = Id<'channel'>;
/**
 * The names of an API key: keyed hashes, which may be stored and logged. The first is the one to store; the others are those that
 * the key had while another encryption key came first. An account is a key, and is looked up by all of its names.
 */
export type AccountNames = readonly [string, ...string[]];
/** A server of the hosting account (docs/hosting-api.md 2.3). */
export type ServerId = Id<'server', number>;
/**
 * The ULID of one confirmation, made when its form opens (`formId` of its origin). It identifies the form's reply URL, the
 * operation in the ledger or the approval or access request, and the operation in the audit.
 */
export type ConfirmationId = Id<'confirmation'>;
export type GrantId = Id<'grant'>;
/** An audit entry; a ULID, so that IDs sort in the order in which entries were added. */
export type AuditEntryId = Id<'audit entry'>;
export type WorkflowKeyId = Id<'workflow key'>;
/** One run of the app's step in a workflow. The button of its card carries it, and its messages are stored under it. */
export type WorkflowRunId = ConfirmationId;

/** Where a message of Slack is. With the app's own, it can be edited later. */
export interface PostedMessage {
  readonly channelId: ChannelId;
  /** Slack's ID of the message within its channel. */
  readonly ts: string;
}

/** The thread that a user acts in, or whose first message they act on. The outcome is announced there. */
export interface Thread {
  /** The `ts` of its first message. */
  readonly ts: string;
  /** Whether it has replies: only then does Slack show ephemeral messages in it (Slack, `chat.postEphemeral`). */
  readonly isOpen: boolean;
}
