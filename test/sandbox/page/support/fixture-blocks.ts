import type { Json } from '../../../../src/sandbox/slack/page-api.ts';

export const plain = (text: string): Json => ({ type: 'plain_text', text, emoji: false });
export const mrkdwn = (text: string): Json => ({ type: 'mrkdwn', text, verbatim: true });
export const section = (text: string, more: Json = {}): Json => ({
  type: 'section',
  text: mrkdwn(text),
  ...more,
});
export const context = (text: string): Json => ({ type: 'context', elements: [mrkdwn(text)] });
export const button = (text: string, action: string, more: Json = {}): Json => ({
  type: 'button',
  action_id: action,
  text: plain(text),
  ...more,
});
export const option = (text: string, value: string, description?: string): Json => ({
  text: plain(text),
  value,
  ...(description ? { description: plain(description) } : {}),
});
export const confirm = (verb: string, text: string): Json => ({
  title: plain(`${verb} the server?`),
  text: plain(text),
  confirm: plain(verb),
  deny: plain('Cancel'),
  style: 'danger',
});
