import { z } from 'zod';
import { because } from './fault.ts';
import { LIMITS } from './limits.ts';
import { filled, typed } from './object.ts';

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
export const dataVisualization = typed(
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
