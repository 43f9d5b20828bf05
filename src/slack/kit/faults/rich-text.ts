import { anything, byType, type Check, choice, list, number, shape, string, whole } from './check.ts';

const styled = { type: string({}), style: anything };
const border = choice(0, 1);

const INLINE: Readonly<Record<string, Check>> = {
  text: shape({ ...styled, text: string({ min: 1 }) }, 'text'),
  link: shape({ ...styled, url: string({ min: 1 }), text: string({}), unsafe: anything }, 'url'),
  emoji: shape({ ...styled, name: string({ min: 1 }), unicode: string({}), url: string({}) }, 'name'),
  user: shape({ ...styled, user_id: string({ min: 1 }) }, 'user_id'),
  usergroup: shape({ ...styled, usergroup_id: string({ min: 1 }) }, 'usergroup_id'),
  team: shape({ ...styled, team_id: string({ min: 1 }) }, 'team_id'),
  channel: shape({ ...styled, channel_id: string({ min: 1 }) }, 'channel_id'),
  broadcast: shape({ ...styled, range: choice('here', 'channel', 'everyone') }, 'range'),
  color: shape({ ...styled, value: string({ min: 1 }) }, 'value'),
  date: shape(
    {
      ...styled,
      timestamp: whole({}),
      format: string({ min: 1 }),
      url: string({}),
      fallback: string({ min: 1 }),
    },
    'timestamp',
    'format',
  ),
};

const inline = list(byType(INLINE, 'rich text element'), {});
const section = shape({ type: choice('rich_text_section'), elements: inline }, 'elements');

const PARTS: Readonly<Record<string, Check>> = {
  rich_text_section: section,
  rich_text_quote: shape({ type: string({}), elements: inline, border }, 'elements'),
  rich_text_preformatted: shape(
    {
      type: string({}),
      elements: list(
        byType({ text: INLINE.text ?? anything, link: INLINE.link ?? anything }, 'preformatted text'),
        {
          min: 1,
        },
      ),
      border,
      language: string({}),
    },
    'elements',
  ),
  rich_text_list: shape(
    {
      type: string({}),
      elements: list(section, { min: 1 }),
      style: choice('bullet', 'ordered'),
      indent: whole({ max: 8 }),
      offset: number,
      border,
    },
    'elements',
    'style',
  ),
};

/** A rich_text block, or the rich_text cell of a table. */
export const RICH_TEXT: Check = shape(
  {
    type: choice('rich_text'),
    block_id: string({ max: 255 }),
    elements: list(byType(PARTS, 'part of a rich_text block'), { min: 1 }),
  },
  'elements',
);
