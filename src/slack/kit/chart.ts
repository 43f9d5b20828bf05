import { LIMITS } from './limits.ts';
import { plainLabel, shorten } from './text.ts';

interface Point {
  readonly label: string;
  readonly value: number;
}

/** A chart in a message (Slack, "Data visualization block"), which `@slack/types` 3.2 doesn't have yet. */
export interface ChartBlock {
  readonly type: 'data_visualization';
  readonly block_id?: string;
  readonly title: string;
  readonly chart: {
    readonly type: 'bar';
    readonly series: readonly { readonly name: string; readonly data: readonly Point[] }[];
    readonly axis_config: { readonly categories: readonly string[]; readonly y_label?: string };
  };
}

/** Bars of one color: 20 at most. Not every Slack shows it, so the numbers have to stand in the message as text, too. */
export function barChart(words: {
  readonly title: string;
  /** What the bars measure. */
  readonly name: string;
  readonly yLabel?: string;
  readonly bars: readonly Point[];
}): ChartBlock {
  const labels = tellApart(words.bars.map(({ label }) => plainLabel(label, LIMITS.chartLabel)));
  const data = words.bars.map(({ value }, at) => ({ label: labels[at] ?? '', value }));
  const yLabel = words.yLabel === undefined ? undefined : shorten(words.yLabel, LIMITS.chartTitle);
  return {
    type: 'data_visualization',
    title: shorten(words.title, LIMITS.chartTitle),
    chart: {
      type: 'bar',
      series: [{ name: shorten(words.name, LIMITS.chartLabel), data }],
      axis_config: { categories: labels, y_label: yLabel },
    },
  };
}

/** Slack refuses two bars of one label, and two long labels may have been shortened to the same. */
function tellApart(labels: readonly string[]): string[] {
  const used = new Set<string>();
  return labels.map((label) => {
    let own = label;
    for (let copy = 2; used.has(own); copy++)
      own = `${shorten(label, LIMITS.chartLabel - String(copy).length - 1)} ${copy}`;
    used.add(own);
    return own;
  });
}
