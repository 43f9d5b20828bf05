/** Slack's codes for a message that can't be edited any more. `channel_not_found`: also where the app was removed from a private channel. */
export const MESSAGE_GONE: readonly string[] = [
  'message_not_found',
  'cant_update_message',
  'edit_window_closed',
  'channel_not_found',
  'is_archived',
  'not_in_channel',
];
