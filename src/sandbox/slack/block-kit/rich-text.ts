import { z } from 'zod';
import { LIMITS } from './limits.ts';
import { filled, string, typed, whole } from './object.ts';

const style = z.unknown();
const border = z.literal([0, 1]);

const text = typed('text', { text: filled(LIMITS.preformatted) }, { style });
const link = typed('link', { url: filled() }, { style, text: string(), unsafe: z.unknown() });

const inline = z.array(
  z.discriminatedUnion('type', [
    text,
    link,
    typed('emoji', { name: filled() }, { style, unicode: string(), url: string() }),
    typed('user', { user_id: filled() }, { style }),
    typed('usergroup', { usergroup_id: filled() }, { style }),
    typed('team', { team_id: filled() }, { style }),
    typed('channel', { channel_id: filled() }, { style }),
    typed('broadcast', { range: z.enum(['here', 'channel', 'everyone']) }, { style }),
    typed('color', { value: filled() }, { style }),
    typed('date', { timestamp: whole(), format: filled() }, { style, url: string(), fallback: filled() }),
  ]),
);

const section = typed('rich_text_section', { elements: inline });

/** A rich_text block, or the rich_text cell of a table. */
export const richText = typed(
  'rich_text',
  {
    elements: z
      .array(
        z.discriminatedUnion('type', [
          section,
          typed('rich_text_quote', { elements: inline }, { border }),
          typed(
            'rich_text_preformatted',
            { elements: z.array(z.discriminatedUnion('type', [text, link])).min(1) },
            { border, language: string() },
          ),
          typed(
            'rich_text_list',
            { elements: z.array(section).min(1), style: z.enum(['bullet', 'ordered']) },
            { indent: whole(0, LIMITS.listIndent), offset: z.number(), border },
          ),
        ]),
      )
      .min(1),
  },
  { block_id: filled(LIMITS.id) },
);
