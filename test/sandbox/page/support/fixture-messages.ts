import type { Json } from '../../../../src/sandbox/slack/page-api.ts';
import { button, confirm, context, mrkdwn, option, plain, section } from './fixture-blocks.ts';

export interface Message {
  readonly text: string;
  readonly blocks?: readonly Json[];
}

export const LABEL_TAKEN = 'There is a server with that label already';
export const deletedWords = '<@U0OWNER001> rebooted `web-1`';

/** A table of servers as the product lists them. */
export function listMessage(count: number): Message {
  const states = ['running', 'running', 'running', 'stopped', 'rebooting', 'expired'];
  const roles = ['web', 'db', 'worker', 'staging', 'build'];
  const cell = (text: string) => ({ type: 'raw_text', text });
  const labels = Array.from(
    { length: count },
    (_each, index) => `${roles[index % 5]}-${Math.floor(index / 5) + 1}`,
  );
  const rows = labels.map((label, index) => [
    cell(label),
    cell(states[index % 6] ?? 'running'),
    cell(`203.0.113.${index + 10}`),
    cell(`2026-${String(11 + (index % 2)).padStart(2, '0')}-${String((index % 27) + 1).padStart(2, '0')}`),
    cell(String(4100 + index * 7)),
  ]);
  const head = ['Label', 'State', 'IPv4', 'Paid until', 'Id'].map(cell);
  const menu = { type: 'static_select', action_id: 'manage', placeholder: plain('Manage a server') };
  return {
    text: `${count} servers`,
    blocks: [
      section(`*${count} servers*`),
      { type: 'data_table', caption: 'Servers', page_size: 10, rows: [head, ...rows] },
      {
        type: 'actions',
        elements: [
          { ...menu, options: labels.map((label) => option(label, label)) },
          button('Next', 'further'),
        ],
      },
    ],
  };
}

/** One server with its buttons. */
export function sheetMessage(label: string, state = 'running'): Message {
  return {
    text: `${label}: ${state}`,
    blocks: [
      { type: 'header', text: plain(label) },
      {
        type: 'section',
        fields: [
          mrkdwn(`*State*\n${state}`),
          mrkdwn('*IPv4*\n`203.0.113.10`'),
          mrkdwn('*Id*\n4107'),
          mrkdwn(
            '*Paid until*\n<!date^1797811200^{date_short_pretty} {time}|2026-12-21 00:00 UTC> (30 days)',
          ),
        ],
      },
      {
        type: 'actions',
        block_id: 'server',
        elements: [
          button('Start', 'start'),
          button('Stop', 'stop', {
            confirm: confirm('Stop', 'web-1 will be switched off. It stays paid.'),
          }),
          button('Reboot', 'reboot', { confirm: confirm('Reboot', 'web-1 will be away for a moment.') }),
          button('Renew…', 'renew'),
          button('Delete…', 'delete', { style: 'danger' }),
        ],
      },
      context(
        '<!date^1791208800^{date_short_pretty} {time}|6 Oct> <@U0MANAGER1> create: settled\nMade here: plan small, fra, debian-13',
      ),
    ],
  };
}

export const renamed = (label: string, state: string): Message => sheetMessage(label, state);

/** The root password in a preformatted block. */
export function passwordMessage(): Message {
  return {
    text: 'The root password of web-1',
    blocks: [
      section('*Root password*, shown to nobody but you:'),
      {
        type: 'rich_text',
        elements: [
          { type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'tr0ub4dor&<b>3</b>*horse*' }] },
        ],
      },
      context('Put it into your password store now: the hosting API never shows it again.'),
      { type: 'actions', elements: [button("I've saved it", 'saved', { style: 'primary' })] },
    ],
  };
}

/** Every block and element that the page draws, in one message. */
export function everyBlock(): Message & { readonly blocks: readonly Json[] } {
  return {
    text: 'everything',
    blocks: [
      section(
        '*bold* _italic_ ~strike~ `code &lt;b&gt;` <@U0OPERATOR> <#C0OPS00001> <!here> <https://example.com|a link> :rocket: :no_such:\n> quoted\n```\nfenced  text\n```\n• a bullet',
      ),
      { type: 'divider' },
      {
        type: 'rich_text',
        elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'ls -l\n' }] }],
      },
      { type: 'image', image_url: 'https://example.com/x.png', alt_text: 'A graph of the load' },
      {
        type: 'actions',
        elements: [
          button('Primary', 'primary', { style: 'primary' }),
          { type: 'users_select', action_id: 'who', placeholder: plain('Somebody') },
        ],
      },
    ],
  };
}
