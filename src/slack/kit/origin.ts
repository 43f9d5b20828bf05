import type { ChannelId, ConfirmationId, WorkspaceId } from '../../domain/ids.ts';
import type { Thread } from '../../domain/thread.ts';

/** Where a form was opened: its ID finds the reply path, which we store sealed. */
export interface Origin {
  readonly formId: ConfirmationId;
  readonly channelId?: ChannelId;
  readonly thread?: Thread;
  /** It was opened on Home, which is no channel: an order asks where to announce its outcome. */
  readonly isHome?: true;
  /** Only where the app is installed for a whole organization (`stamp.ts`). */
  readonly workspaceId?: WorkspaceId;
}
