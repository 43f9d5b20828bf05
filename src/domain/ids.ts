declare const kind: unique symbol;

/**
 * An id that the compiler won't take for an id of another kind. Plain text or a plain number from outside (a payload, a
 * row, a test) may become any of them, so nothing has to be cast where ids come in.
 */
type Id<Kind extends string, Base extends string | number = string> = Base & { readonly [kind]?: Kind };

/** A Slack workspace (`T…`), or an Enterprise Grid organization (`E…`) where the app is installed for all of it. */
export type WorkspaceId = Id<'workspace'>;
/** A Slack user (`U…`, `W…`); in the audit also `app` and `command line`. */
export type UserId = Id<'user'>;
/** A Slack channel, private channel or direct message (`C…`, `G…`, `D…`). */
export type ChannelId = Id<'channel'>;
/** A server of the hosting account (docs/hosting-api.md 2). */
export type ServerId = Id<'server', number>;
/**
 * One ULID follows a confirmation all the way: made when its form is opened, it names the reply URL that is stored for the
 * form, the operation in the ledger, the approval or access request that was asked for instead, and the act in the audit.
 */
export type ConfirmationId = Id<'confirmation'>;
/** A role that was granted. */
export type GrantId = Id<'grant'>;
/** An entry of the audit; a ULID, so that its order is the order in which entries were added. */
export type AuditEntryId = Id<'audit entry'>;
