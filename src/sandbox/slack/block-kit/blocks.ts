import { z } from 'zod';
import {
  accessory,
  actionsElement,
  anyText,
  type Fields,
  filled,
  image,
  inputElement,
  mrkdwn,
  plainText,
  string,
  textLength,
  typed,
  whole,
  withOneOf,
} from './elements.ts';
import { because, report } from './fault.ts';
import { LIMITS } from './limits.ts';

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

const richTextSection = typed('rich_text_section', { elements: inline });

/** A rich_text block, or the rich_text cell of a table. */
const richText = typed(
  'rich_text',
  {
    elements: z
      .array(
        z.discriminatedUnion('type', [
          richTextSection,
          typed('rich_text_quote', { elements: inline }, { border }),
          typed(
            'rich_text_preformatted',
            { elements: z.array(z.discriminatedUnion('type', [text, link])).min(1) },
            { border, language: string() },
          ),
          typed(
            'rich_text_list',
            { elements: z.array(richTextSection).min(1), style: z.enum(['bullet', 'ordered']) },
            { indent: whole(0, LIMITS.listIndent), offset: z.number(), border },
          ),
        ]),
      )
      .min(1),
  },
  { block_id: filled(LIMITS.id) },
);

/** One empty cell makes Slack refuse the whole message (getnao/nao#1143). */
const cell = z
  .discriminatedUnion('type', [
    typed('raw_text', { text: string() }),
    typed('raw_number', { value: z.number(), text: string() }),
    richText,
  ])
  .refine((value) => textLength(value) > 0, because('empty_cell', 'a cell must not be empty'));

const row = z.array(cell).min(1).max(LIMITS.tableColumns);

/** Rows of as many cells as the header has. */
const dataRows = z
  .array(row)
  .min(LIMITS.dataTableMinRows)
  .max(LIMITS.dataTableRows)
  .superRefine(([header = [], ...rest], context) => {
    for (const [index, cells] of rest.entries()) {
      if (cells.length === header.length) continue;
      report(context, 'uneven_rows', `must have ${header.length} cells, like the header`, index + 1);
    }
    for (const [index, { type }] of header.entries()) {
      if (type === 'rich_text')
        report(context, 'not_allowed_here', 'header cells must not be rich_text', 0, index);
    }
  });

/** Slack's "Data table block" page. */
const dataTable = typed(
  'data_table',
  { rows: dataRows, caption: filled() },
  {
    block_id: filled(LIMITS.id),
    page_size: whole(1, LIMITS.dataTablePageSize),
    row_header_column_index: whole(),
  },
).superRefine(({ rows, row_header_column_index: column }, context) => {
  const columns = Array.isArray(rows) && Array.isArray(rows[0]) ? rows[0].length : 0;
  if (typeof column !== 'number' || column < columns) return;
  report(context, 'too_many', `is ${column}; there are ${columns} columns`, 'row_header_column_index');
});

const label = filled(LIMITS.chartLabel);
const title = filled(LIMITS.chartTitle);

const point = z.strictObject({ label, value: z.number() });

const segment = point.refine(({ value }) => value > 0, because('too_few', 'must be more than 0', 'value'));

const pie = typed('pie', { segments: z.array(segment).min(1).max(LIMITS.chartParts) });

const series = z.strictObject({ name: label, data: z.array(point).min(1).max(LIMITS.chartPoints) });

const axes = z.strictObject({
  categories: z.array(label).min(1).max(LIMITS.chartPoints),
  x_label: title.optional(),
  y_label: title.optional(),
});

/** Said once all else is right. */
const last = { when: ({ issues }: { readonly issues: readonly unknown[] }) => issues.length === 0 };

/** Bars, lines or areas: every series has one point for each category. */
function overCategories<Type extends 'bar' | 'line' | 'area'>(type: Type) {
  return z
    .strictObject({
      type: z.literal(type),
      series: z.array(series).min(1).max(LIMITS.chartParts),
      axis_config: axes,
    })
    .refine((chart) => !hasTwice(chart.series.map(({ name }) => name)), {
      ...because('duplicate_id', 'two series have the same name', 'series'),
      ...last,
    })
    .refine(({ axis_config: { categories } }) => !hasTwice(categories), {
      ...because('duplicate_id', 'a category is there twice', 'axis_config', 'categories'),
      ...last,
    })
    .refine((chart) => chart.series.every(({ data }) => isOver(data, chart.axis_config.categories)), {
      ...because('not_an_option', 'the labels of the data are not the categories', 'series'),
      ...last,
    });
}

function hasTwice(words: readonly string[]): boolean {
  return new Set(words).size < words.length;
}

function isOver(data: readonly { readonly label: string }[], categories: readonly string[]): boolean {
  const labels = new Set(data.map((each) => each.label));
  return data.length === categories.length && categories.every((category) => labels.has(category));
}

/** Slack's "Data visualization block" page. */
const dataVisualization = typed(
  'data_visualization',
  {
    title,
    chart: z.discriminatedUnion('type', [
      pie,
      overCategories('bar'),
      overCategories('line'),
      overCategories('area'),
    ]),
  },
  { block_id: filled(LIMITS.id) },
);

function block(type: string, required: Fields, optional: Fields = {}) {
  return typed(type, required, { block_id: filled(LIMITS.id), ...optional });
}

const contextElement = z.discriminatedUnion('type', [image, plainText(), mrkdwn()]);

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

const alert = block(
  'alert',
  { text: anyText(LIMITS.alert) },
  { level: z.enum(['default', 'info', 'warning', 'error', 'success']) },
);

/** Any block, whatever the surface; Slack has more, which the app doesn't send. */
export const anyBlock = z.discriminatedUnion('type', [
  block('actions', { elements: z.array(actionsElement).min(1).max(LIMITS.actionsElements) }),
  alert,
  block('context', { elements: z.array(contextElement).min(1).max(LIMITS.contextElements) }),
  dataTable,
  dataVisualization,
  block('divider', {}),
  block('header', { text: plainText(LIMITS.header) }),
  imageBlock,
  input,
  block('markdown', { text: filled(LIMITS.markdown) }),
  richText,
  section,
]);
