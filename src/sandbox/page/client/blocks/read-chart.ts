import type { Json } from '../../../slack/page-api.ts';
import { objectIn, objectsIn, textIn } from '../json.ts';

/** A labeled number. */
export interface Point {
  readonly label: string;
  readonly value: number;
}

/** A chart as it is drawn. */
export interface ChartData {
  readonly title: string;
  readonly series: readonly { readonly name: string; readonly points: readonly Point[] }[];
  readonly categories: readonly string[];
  readonly xLabel: string;
  readonly yLabel: string;
}

/** Reads a `data_visualization` block. */
export function chartOf(block: Json): ChartData {
  const chart = objectIn(block, 'chart');
  const axes = objectIn(chart, 'axis_config');
  const given = Array.isArray(axes?.categories) ? axes.categories.map(String) : [];
  const series = objectsIn(chart, 'series').map((each) => {
    const points = pointsIn(each, 'data');
    const sorted = given.flatMap((category) => points.filter(({ label }) => label === category));
    return { name: textIn(each, 'name'), points: sorted };
  });
  return {
    title: textIn(block, 'title'),
    series,
    categories: given,
    xLabel: textIn(axes, 'x_label'),
    yLabel: textIn(axes, 'y_label'),
  };
}

function pointsIn(holder: unknown, field: string): readonly Point[] {
  return objectsIn(holder, field).map((point) => ({
    label: textIn(point, 'label'),
    value: typeof point.value === 'number' ? point.value : 0,
  }));
}

/** The lines of a scale around all values and 0: at most six, on round numbers. */
export function ticksFor(values: readonly number[]): readonly number[] {
  const most = Math.max(0, ...values);
  const least = Math.min(0, ...values);
  const step = roundStep((most - least || 1) / 4);
  const from = Math.floor(least / step);
  const to = Math.max(from + 1, Math.ceil(most / step));
  // Whole steps: sums of fractions would drift.
  return Array.from({ length: to - from + 1 }, (_, at) => Number(((from + at) * step).toPrecision(12)));
}

/** The next of 1, 2, 5, 10, 20, … that is not smaller. */
function roundStep(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size));
  return power * ([1, 2, 5].find((each) => each * power >= size * (1 - 1e-9)) ?? 10);
}

/** What the chart says, for readers who don't see it. */
export function describeChart({ title, series }: ChartData): string {
  const parts = series.map(({ name, points }) => {
    const words = points.map(({ label, value }) => `${label} ${value}`).join(', ');
    return `${name}: ${words}`;
  });
  return `${title}, bar chart. ${parts.join('. ')}`;
}
