import { Signed } from '../text/view.tsx';
import type { BlockProps } from './block-view.tsx';
import { type ChartData, chartOf, describeChart, type Point, ticksFor } from './read-chart.ts';

/** A chart with its title and, where colors tell parts from each other, what they mean. */
export function Chart({ block }: BlockProps) {
  const chart = chartOf(block);
  const names = chart.series.length > 1 ? chart.series.map(({ name }) => name) : [];
  return (
    <figure class="chart">
      <figcaption>
        <Signed text={chart.title} />
      </figcaption>
      <div role="img" aria-label={describeChart(chart)}>
        <BarChart chart={chart} />
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

const WIDTH = 360;
const HEIGHT = 200;
/** Around the plot: for the numbers, and for the categories. */
const LEFT = 52;
const BOTTOM = 40;
const TOP = 10;

interface Scale {
  x(category: number): number;
  y(value: number): number;
  /** Between two categories. */
  readonly step: number;
}

/** Bars over categories, which is what the app sends. */
function BarChart({ chart }: { readonly chart: ChartData }) {
  const ticks = ticksFor(chart.series.flatMap(({ points }) => points.map(({ value }) => value)));
  const scale = scaleOf(chart.categories.length, ticks);
  return (
    <svg class="plot" viewBox={`0 0 ${WIDTH} ${HEIGHT + (chart.xLabel ? 16 : 0)}`} aria-hidden="true">
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="chart-line" x1={LEFT} x2={WIDTH} y1={scale.y(tick)} y2={scale.y(tick)} />
          <text class="chart-tick" x={LEFT - 6} y={scale.y(tick) + 4} text-anchor="end">
            {tick}
          </text>
        </g>
      ))}
      {chart.series.map(({ name, points }, at) => (
        <g key={name} class={`chart-part-${at}`}>
          <Bars points={points} at={at} of={chart.series.length} scale={scale} />
        </g>
      ))}
      <Axes chart={chart} scale={scale} />
    </svg>
  );
}

function scaleOf(categories: number, ticks: readonly number[]): Scale {
  const [least, most] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const step = (WIDTH - LEFT) / Math.max(1, categories);
  return {
    step,
    x: (category) => LEFT + step * (category + 0.5),
    y: (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - least) / (most - least)),
  };
}

interface BarsProps {
  readonly points: readonly Point[];
  readonly at: number;
  readonly of: number;
  readonly scale: Scale;
}

function Bars({ points, at, of, scale }: BarsProps) {
  const room = Math.min(scale.step * 0.7, 64 * of);
  const width = room / of;
  return (
    <>
      {points.map(({ label, value }, place) => {
        const [top, bottom] = [scale.y(Math.max(0, value)), scale.y(Math.min(0, value))];
        const left = scale.x(place) - room / 2 + at * width;
        return <rect key={label} x={left} y={top} width={Math.max(1, width - 2)} height={bottom - top} />;
      })}
    </>
  );
}

/** Names that would run into each other are shortened. */
function Axes({ chart, scale }: { readonly chart: ChartData; readonly scale: Scale }) {
  const letters = Math.max(2, Math.floor(scale.step / 7));
  return (
    <>
      {chart.categories.map((category, place) => (
        <text
          key={category}
          class="chart-tick"
          x={scale.x(place)}
          y={HEIGHT - BOTTOM + 16}
          text-anchor="middle"
        >
          {category.length > letters ? `${category.slice(0, letters - 1)}…` : category}
        </text>
      ))}
      {chart.yLabel && (
        <text class="chart-label" x={LEFT} y={HEIGHT - 4}>
          {chart.yLabel}
        </text>
      )}
      {chart.xLabel && (
        <text class="chart-label" x={WIDTH / 2} y={HEIGHT + 12} text-anchor="middle">
          {chart.xLabel}
        </text>
      )}
    </>
  );
}
