import { LIMITS } from '../limits.ts';
import {
  all,
  anything,
  byType,
  type Check,
  choice,
  type Fields,
  flag,
  isFields,
  list,
  shape,
  string,
} from './check.ts';
import { anyText, mrkdwn, plainText } from './composition.ts';
import { ACCESSORIES, ACTION_ELEMENTS, BUTTON, CONTEXT_ACTIONS, IMAGE, INPUT_ELEMENTS } from './elements.ts';
import { RICH_TEXT } from './rich-text.ts';
import { DATA_TABLE, TABLE } from './tables.ts';

const block = { type: string({}), block_id: string({ min: 1, max: LIMITS.id }) };

function oneOf(...names: readonly string[]): Check {
  return (value, path, report) => {
    if (isFields(value) && names.every((name) => value[name] === undefined || value[name] === null))
      report(path, 'missing', `one of ${names.join(', ')} is required`);
  };
}

const contextElement: Check = (value, path, report) => {
  const isImage = isFields(value) && value.type === 'image';
  (isImage ? IMAGE : anyText())(value, path, report);
};

const card: Check = all(
  shape({
    ...block,
    hero_image: IMAGE,
    icon: IMAGE,
    title: mrkdwn(LIMITS.cardTitle),
    subtitle: mrkdwn(LIMITS.cardTitle),
    body: mrkdwn(LIMITS.cardBody),
    actions: list(BUTTON, { max: LIMITS.cardActions }),
  }),
  oneOf('hero_image', 'title', 'actions', 'body'),
);

const taskCard = shape(
  {
    ...block,
    task_id: string({ min: 1 }),
    title: string({ min: 1 }),
    details: RICH_TEXT,
    output: RICH_TEXT,
    sources: anything,
    status: choice('pending', 'in_progress', 'complete', 'error'),
  },
  'task_id',
  'title',
  'status',
);

const input = shape(
  {
    ...block,
    label: plainText(LIMITS.inputLabel),
    hint: plainText(LIMITS.inputHint),
    optional: flag,
    dispatch_action: flag,
    element: byType(INPUT_ELEMENTS, 'input element'),
  },
  'label',
  'element',
);

const container: Check = all(
  shape(
    {
      ...block,
      title: plainText(LIMITS.containerTitle),
      rich_text_title: RICH_TEXT,
      subtitle: anyText(LIMITS.containerTitle),
      child_blocks: (value, path, report) =>
        list(inContainer, { max: LIMITS.containerBlocks })(value, path, report),
      width: choice('narrow', 'standard', 'wide', 'full'),
      icon: IMAGE,
      is_collapsible: flag,
      default_collapsed: flag,
      has_header_divider: flag,
    },
    'child_blocks',
  ),
  oneOf('title', 'rich_text_title'),
);

const BASIC: Readonly<Record<string, Check>> = {
  actions: shape(
    {
      ...block,
      elements: list(byType(ACTION_ELEMENTS, 'element of actions'), { min: 1, max: LIMITS.actionsElements }),
    },
    'elements',
  ),
  context: shape(
    { ...block, elements: list(contextElement, { min: 1, max: LIMITS.contextElements }) },
    'elements',
  ),
  divider: shape(block),
  file: shape({ ...block, source: string({}), external_id: string({ min: 1 }) }, 'source', 'external_id'),
  header: shape({ ...block, text: plainText(LIMITS.header) }, 'text'),
  image: shape(
    {
      ...block,
      alt_text: string({ min: 1, max: LIMITS.imageAlt }),
      title: plainText(LIMITS.imageTitle),
      image_url: string({ max: LIMITS.imageUrl }),
      slack_file: anything,
    },
    'alt_text',
  ),
  input,
  rich_text: RICH_TEXT,
  section: all(
    shape({
      ...block,
      text: anyText(LIMITS.text),
      fields: list(anyText(LIMITS.sectionField), { min: 1, max: LIMITS.sectionFields }),
      accessory: byType(ACCESSORIES, 'accessory'),
      expand: flag,
    }),
    oneOf('text', 'fields'),
  ),
  table: TABLE,
  video: shape(
    {
      ...block,
      video_url: string({ min: 1 }),
      thumbnail_url: string({ min: 1 }),
      alt_text: string({ min: 1 }),
      title: plainText(LIMITS.videoTitle),
      title_url: string({}),
      author_name: string({ max: LIMITS.videoAuthor }),
      provider_name: string({}),
      provider_icon_url: string({}),
      description: plainText(),
    },
    'video_url',
    'thumbnail_url',
    'alt_text',
    'title',
  ),
};

const inContainer: Check = byType(BASIC, 'block within a container');

const BLOCKS: Readonly<Record<string, Check>> = {
  ...BASIC,
  alert: shape(
    {
      ...block,
      text: anyText(LIMITS.alert),
      level: choice('default', 'info', 'warning', 'error', 'success'),
    },
    'text',
  ),
  card,
  carousel: shape({ ...block, elements: list(card, { min: 1, max: LIMITS.carouselCards }) }, 'elements'),
  container,
  context_actions: shape(
    {
      ...block,
      elements: list(byType(CONTEXT_ACTIONS, 'element of context_actions'), {
        min: 1,
        max: LIMITS.contextActionsElements,
      }),
    },
    'elements',
  ),
  data_table: DATA_TABLE,
  data_visualization: anything,
  markdown: shape({ ...block, text: string({ min: 1, max: LIMITS.markdown }) }, 'text'),
  plan: shape({ ...block, title: string({ min: 1 }), tasks: list(anything, {}) }, 'title'),
  task_card: taskCard,
};

/** Any block, on whatever surface. */
export const BLOCK: Check = byType(BLOCKS, 'block');

/** Tells whether Slack has such a block at all. */
export function isBlockType(type: unknown): type is string {
  return typeof type === 'string' && Object.hasOwn(BLOCKS, type);
}

/** The blocks of a surface, those within containers included. */
export function blocksWithin(blocks: readonly unknown[]): readonly Fields[] {
  return blocks.filter(isFields).flatMap((each) => {
    const children = Array.isArray(each.child_blocks) ? blocksWithin(each.child_blocks) : [];
    return [each, ...children];
  });
}
