import { z } from 'zod';
import { dataVisualization } from './charts.ts';
import { anyText, mrkdwn, plainText } from './composition.ts';
import { accessory, actionsElement, button, contextAction, image, inputElement } from './elements.ts';
import { LIMITS } from './limits.ts';
import { type Fields, filled, string, typed, withOneOf } from './object.ts';
import { richText } from './rich-text.ts';
import { dataTable, table } from './tables.ts';

function block(type: string, required: Fields, optional: Fields = {}) {
  return typed(type, required, { block_id: filled(LIMITS.id), ...optional });
}

const contextElement = z.discriminatedUnion('type', [image, plainText(), mrkdwn()]);

const card = withOneOf(
  block(
    'card',
    {},
    {
      hero_image: image,
      icon: image,
      title: mrkdwn(LIMITS.cardTitle),
      subtitle: mrkdwn(LIMITS.cardTitle),
      body: mrkdwn(LIMITS.cardBody),
      actions: z.array(button).max(LIMITS.cardActions),
    },
  ),
  'hero_image',
  'title',
  'actions',
  'body',
);

const section = withOneOf(
  block(
    'section',
    {},
    {
      text: anyText(LIMITS.text),
      fields: z.array(anyText(LIMITS.sectionField)).min(1).max(LIMITS.sectionFields),
      accessory,
      expand: z.boolean(),
    },
  ),
  'text',
  'fields',
);

const video = block(
  'video',
  {
    video_url: filled(),
    thumbnail_url: filled(),
    alt_text: filled(),
    title: plainText(LIMITS.videoTitle),
  },
  {
    title_url: string(),
    author_name: string(LIMITS.videoAuthor),
    provider_name: string(),
    provider_icon_url: string(),
    description: plainText(),
  },
);

const input = block(
  'input',
  { label: plainText(LIMITS.inputLabel), element: inputElement },
  { hint: plainText(LIMITS.inputHint), optional: z.boolean(), dispatch_action: z.boolean() },
);

const imageBlock = block(
  'image',
  { alt_text: filled(LIMITS.imageAlt) },
  { title: plainText(LIMITS.imageTitle), image_url: string(LIMITS.imageUrl), slack_file: z.unknown() },
);

/** The blocks that a container takes, too. */
const basicBlocks = [
  block('actions', { elements: z.array(actionsElement).min(1).max(LIMITS.actionsElements) }),
  block('context', { elements: z.array(contextElement).min(1).max(LIMITS.contextElements) }),
  block('divider', {}),
  block('file', { source: string(), external_id: filled() }),
  block('header', { text: plainText(LIMITS.header) }),
  imageBlock,
  input,
  richText,
  section,
  table,
  video,
] as const;

const container = withOneOf(
  block(
    'container',
    { child_blocks: z.array(z.discriminatedUnion('type', basicBlocks)).max(LIMITS.containerBlocks) },
    {
      title: plainText(LIMITS.containerTitle),
      rich_text_title: richText,
      subtitle: anyText(LIMITS.containerTitle),
      width: z.enum(['narrow', 'standard', 'wide', 'full']),
      icon: image,
      is_collapsible: z.boolean(),
      default_collapsed: z.boolean(),
      has_header_divider: z.boolean(),
    },
  ),
  'title',
  'rich_text_title',
);

const taskCard = block(
  'task_card',
  {
    task_id: filled(),
    title: filled(),
    status: z.enum(['pending', 'in_progress', 'complete', 'error']),
  },
  { details: richText, output: richText, sources: z.unknown() },
);

const alert = block(
  'alert',
  { text: anyText(LIMITS.alert) },
  { level: z.enum(['default', 'info', 'warning', 'error', 'success']) },
);

/** Any block, whatever the surface. */
export const anyBlock = z.discriminatedUnion('type', [
  ...basicBlocks,
  alert,
  card,
  block('carousel', { elements: z.array(card).min(1).max(LIMITS.carouselCards) }),
  container,
  block('context_actions', { elements: z.array(contextAction).min(1).max(LIMITS.contextActionsElements) }),
  dataTable,
  dataVisualization,
  block('markdown', { text: filled(LIMITS.markdown) }),
  block('plan', { title: filled() }, { tasks: z.array(z.unknown()) }),
  taskCard,
]);
