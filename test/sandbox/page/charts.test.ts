import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chartOf, describeChart, ticksFor } from '../../../src/sandbox/page/client/blocks/read-chart.ts';

describe('the scale of a chart', () => {
  it.each([
    [
      [3, 12.5, 40],
      [0, 10, 20, 30, 40],
    ],
    [[5.9], [0, 2, 4, 6]],
    [
      [-3, 4],
      [-4, -2, 0, 2, 4],
    ],
    [[0], [0, 0.5]],
    [[], [0, 0.5]],
    [[0.3], [0, 0.1, 0.2, 0.3]],
  ])('of %j has the lines %j', (values, lines) => {
    expect(ticksFor(values)).toEqual(lines);
  });

  it('holds every value and 0 within a few lines', () => {
    const values = fc.array(
      fc.double({ min: -1e9, max: 1e9, noNaN: true }).map((each) => Math.round(each * 100) / 100),
    );
    fc.assert(
      fc.property(values, (given) => {
        const ticks = ticksFor(given);
        expect(ticks.length).toBeLessThanOrEqual(7);
        for (const value of [0, ...given]) {
          expect(value).toBeGreaterThanOrEqual((ticks[0] ?? 0) - 1e-6);
          expect(value).toBeLessThanOrEqual((ticks.at(-1) ?? 0) + 1e-6);
        }
      }),
    );
  });
});

describe('a chart', () => {
  const block = (chart: Record<string, unknown>) => ({ type: 'data_visualization', title: 'Costs', chart });

  it('has the points of each series in the order of the categories', () => {
    const data = [
      { label: 'b', value: 2 },
      { label: 'a', value: 1 },
    ];
    const chart = chartOf(
      block({ type: 'bar', series: [{ name: 'Paid', data }], axis_config: { categories: ['a', 'b'] } }),
    );
    expect(chart.series[0]?.points.map(({ value }) => value)).toEqual([1, 2]);
    expect(describeChart(chart)).toBe('Costs, bar chart. Paid: a 1, b 2');
  });
});
