import type { ChannelId, ConfirmationId, WorkspaceId } from '../../domain/ids.ts';

/** Where a form was opened: its ID finds the reply path, which we store sealed. */
export interface Origin {
  readonly formId: ConfirmationId;
  readonly channelId?: ChannelId;
  /** Only where the app is installed for a whole organization (`stamp.ts`). */
  readonly workspaceId?: WorkspaceId;
}
