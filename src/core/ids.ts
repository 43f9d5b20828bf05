declare const kind: unique symbol;

/**
 * An ID that the compiler doesn't accept as an ID of another kind. Plain strings and numbers from outside (a payload, a
 * row, a test) are accepted as any kind, so that they need no cast.
 */
type Id<Kind extends string, Base extends string | number = string> = Base & { readonly [kind]?: Kind };

/** A Slack workspace (`T…`), or an Enterprise Grid organization (`E…`) where the app is installed for all of it. */
export type WorkspaceId = Id<'workspace'>;
/** Where the app is installed: a workspace (`T…`), or an Enterprise Grid organization with all its workspaces (`E…`). */
export type InstallationId = WorkspaceId;
/** A Slack user (`U…`, `W…`); in the audit also `app` and `command line`. */
export type UserId = Id<'user'>;
/** A Slack channel, private channel or direct message (`C…`, `G…`, `D…`). */
export type ChannelId = Id<'channel'>;
/** A server of the hosting account (docs/hosting-api.md 2). */
export type ServerId = Id<'server', number>;
/**
 * One ULID follows a confirmation all the way. It is made when the form opens (`formId` of its origin), and identifies the
 * form's reply URL, the operation in the ledger or the approval or access request, and the operation in the audit.
 */
export type ConfirmationId = Id<'confirmation'>;
/** A role that was granted. */
export type GrantId = Id<'grant'>;
/** An audit entry; a ULID, so that IDs sort in the order in which entries were added. */
export type AuditEntryId = Id<'audit entry'>;
/** A workflow key that an owner issued. */
export type WorkflowKeyId = Id<'workflow key'>;
/** One run of our step in a workflow; also what its card's button carries, and by what its messages are found. */
export type WorkflowRunId = ConfirmationId;
/** A command in a message; made of what Slack names the message. */
