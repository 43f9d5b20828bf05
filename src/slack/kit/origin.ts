import type { ChannelId, ConfirmationId } from '../../domain/ids.ts';

/** Where a form was opened: its ID finds the reply path, which we store sealed. */
export interface Origin {
  readonly formId: ConfirmationId;
  readonly channelId?: ChannelId;
}
