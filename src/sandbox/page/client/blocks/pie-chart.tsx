import type { ChartData } from './read-chart.ts';

const RADIUS = 70;
const SIZE = 2 * RADIUS + 4;

/** Segments around a circle, beginning at the top. */
export function PieChart({ chart }: { readonly chart: ChartData }) {
  const points = chart.series[0]?.points ?? [];
  const whole = points.reduce((sum, { value }) => sum + value, 0);
  let from = 0;
  return (
    <svg class="pie" viewBox={`${-SIZE / 2} ${-SIZE / 2} ${SIZE} ${SIZE}`} aria-hidden="true">
      {points.map(({ label, value }, at) => {
        const start = from;
        from += value / whole;
        return <path key={label} class={`chart-part-${at}`} d={slice(start, from)} />;
      })}
    </svg>
  );
}

/** The outline between two parts of a turn. */
function slice(from: number, to: number): string {
  // An arc that ends where it begins would be nothing.
  if (to - from > 0.9999)
    return `M0 ${-RADIUS}A${RADIUS} ${RADIUS} 0 1 1 0 ${RADIUS}A${RADIUS} ${RADIUS} 0 1 1 0 ${-RADIUS}Z`;
  const isLarge = to - from > 0.5 ? 1 : 0;
  return `M0 0L${spot(from)}A${RADIUS} ${RADIUS} 0 ${isLarge} 1 ${spot(to)}Z`;
}

function spot(turn: number): string {
  const angle = 2 * Math.PI * turn;
  return `${(RADIUS * Math.sin(angle)).toFixed(2)} ${(-RADIUS * Math.cos(angle)).toFixed(2)}`;
}
