export type Json = Record<string, unknown>;

export const plain = (text: string) => ({ type: 'plain_text', text });
export const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
export const x = (length: number) => 'x'.repeat(length);
export const many = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));
export const section = (text: string) => ({ type: 'section', text: mrkdwn(text) });
export const divider = { type: 'divider' };
export const option = (text: string, value = text) => ({ text: plain(text), value });
export const button = (more: Json = {}) => ({ type: 'button', text: plain('Go'), ...more });
export const actions = (...elements: Json[]) => ({ type: 'actions', elements });
export const select = (more: Json = {}) =>
  actions({ type: 'static_select', options: [option('a')], ...more });
export const input = (element: Json, more: Json = {}) => ({
  type: 'input',
  label: plain('Label'),
  element,
  ...more,
});
export const textInput = (more: Json = {}) => input({ type: 'plain_text_input', ...more });
export const conversations = (filter: Json) => actions({ type: 'conversations_select', filter });
export const cell = (text: string) => ({ type: 'raw_text', text });
export const table = (rows: unknown[][], more: Json = {}) => ({
  type: 'data_table',
  caption: 'Servers',
  rows,
  ...more,
});
export const grid = (rows: number, columns: number, text = 'x') =>
  many(rows, () => many(columns, () => cell(text)));
export const modal = (blocks: unknown[], more: Json = {}) => ({
  type: 'modal',
  title: plain('Title'),
  blocks,
  ...more,
});
export const form = (blocks: unknown[], more: Json = {}) => modal(blocks, { submit: plain('Send'), ...more });
