import { objectIn, objectsIn, textIn } from '../json.ts';
import type { Json } from '../page-api.ts';

/** Renders a chart as the numbers that it draws. */
export function renderChart(block: Json): string {
  const chart = objectIn(block, 'chart') ?? {};
  const segments = objectsIn(chart, 'segments');
  const series = objectsIn(chart, 'series').map(
    (each) => `${textIn(each, 'name')}: ${points(objectsIn(each, 'data'))}`,
  );
  const lines = segments.length > 0 ? [points(segments)] : series;
  return [`${textIn(block, 'title')} (chart)`, ...lines].join('\n');
}

function points(all: readonly Json[]): string {
  return all.map((point) => `${textIn(point, 'label')} ${String(point.value)}`).join(', ');
}
