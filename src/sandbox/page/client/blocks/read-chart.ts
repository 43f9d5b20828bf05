import { objectIn, objectsIn, textIn } from '../../../slack/json.ts';
import type { Json } from '../../../slack/page-api.ts';

/** A chart as it is drawn: bars of one series. */
export interface ChartData {
  readonly title: string;
  readonly name: string;
  readonly points: readonly { readonly label: string; readonly value: number }[];
  readonly yLabel: string;
}

export function chartOf(block: Json): ChartData {
  const chart = objectIn(block, 'chart');
  const axes = objectIn(chart, 'axis_config');
  const categories = Array.isArray(axes?.categories) ? axes.categories.map(String) : [];
  const [series] = objectsIn(chart, 'series');
  const points = objectsIn(series, 'data').map(({ label, value }) => ({
    label: String(label),
    value: Number(value),
  }));
  return {
    title: textIn(block, 'title'),
    name: textIn(series, 'name'),
    points: categories.flatMap((category) => points.filter(({ label }) => label === category)),
    yLabel: textIn(axes, 'y_label'),
  };
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

export function describeChart({ title, name, points }: ChartData): string {
  const words = points.map(({ label, value }) => `${label} ${value}`).join(', ');
  return `${title}, bar chart. ${name}: ${words}`;
}
