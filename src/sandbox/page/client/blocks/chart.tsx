import { Signed } from '../text/signs.tsx';
import type { BlockProps } from './block-props.ts';
import { PieChart } from './pie-chart.tsx';
import { chartOf, describeChart } from './read-chart.ts';
import { SeriesChart } from './series-chart.tsx';

/** A chart with its title and, where colors tell parts from each other, what they mean. */
export function Chart({ block }: BlockProps) {
  const chart = chartOf(block);
  const names =
    chart.type === 'pie'
      ? chart.categories
      : chart.series.length > 1
        ? chart.series.map(({ name }) => name)
        : [];
  return (
    <figure class="chart">
      <figcaption>
        <Signed text={chart.title} />
      </figcaption>
      <div role="img" aria-label={describeChart(chart)}>
        {chart.type === 'pie' ? <PieChart chart={chart} /> : <SeriesChart chart={chart} />}
      </div>
      {names.length > 0 && (
        <ul class="chart-names">
          {names.map((name, at) => (
            <li key={name}>
              <span class={`chart-color chart-part-${at}`} />
              <Signed text={name} />
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}
