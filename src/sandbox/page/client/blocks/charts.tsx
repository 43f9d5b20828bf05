import { Signed } from '../text/view.tsx';
import type { BlockProps } from './block-view.tsx';
import { type ChartData, chartOf, describeChart, ticksFor } from './read-chart.ts';

export function Chart({ block }: BlockProps) {
  const chart = chartOf(block);
  return (
    <figure class="chart">
      <figcaption>
        <Signed text={chart.title} />
      </figcaption>
      <div role="img" aria-label={describeChart(chart)}>
        <BarChart chart={chart} />
      </div>
    </figure>
  );
}

const WIDTH = 360;
const HEIGHT = 200;
/** Around the plot: for the numbers, and for the categories. */
const LEFT = 52;
const BOTTOM = 40;
const TOP = 10;
const WIDEST_BAR = 64;

/** Bars over categories, whose names are shortened where they would run into each other. */
function BarChart({ chart: { points, yLabel } }: { readonly chart: ChartData }) {
  const ticks = ticksFor(points.map(({ value }) => value));
  const [least, most] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const yOf = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - least) / (most - least));
  const step = (WIDTH - LEFT) / Math.max(1, points.length);
  const middleOf = (place: number) => LEFT + step * (place + 0.5);
  const width = Math.min(step * 0.7, WIDEST_BAR);
  const letters = Math.max(2, Math.floor(step / 7));
  return (
    <svg class="plot" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="chart-line" x1={LEFT} x2={WIDTH} y1={yOf(tick)} y2={yOf(tick)} />
          <text class="chart-tick" x={LEFT - 6} y={yOf(tick) + 4} text-anchor="end">
            {tick}
          </text>
        </g>
      ))}
      {points.map(({ label, value }, place) => {
        const [top, bottom] = [yOf(Math.max(0, value)), yOf(Math.min(0, value))];
        return (
          <g key={label}>
            <rect
              class="chart-bar"
              x={middleOf(place) - width / 2}
              y={top}
              width={Math.max(1, width - 2)}
              height={bottom - top}
            />
            <text class="chart-tick" x={middleOf(place)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">
              {label.length > letters ? `${label.slice(0, letters - 1)}…` : label}
            </text>
          </g>
        );
      })}
      {yLabel && (
        <text class="chart-label" x={LEFT} y={HEIGHT - 4}>
          {yLabel}
        </text>
      )}
    </svg>
  );
}
