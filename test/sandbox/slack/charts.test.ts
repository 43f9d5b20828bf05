import { describe, expect, it } from 'vitest';
import { findMessageFaults, findViewFaults } from '../../../src/sandbox/slack/block-kit/find-faults.ts';
import { actions, button, type Json, many, modal, x } from './support/block-samples.ts';
import { startBoth } from './support/fake-app.ts';

const chart = (kind: Json, more: Json = {}) => ({
  type: 'data_visualization',
  title: 'Costs',
  chart: kind,
  ...more,
});
const pie = (...segments: Json[]) => chart({ type: 'pie', segments });
const segments = (count: number) => many(count, (at) => ({ label: `part ${at}`, value: 1 }));
const points = (labels: readonly string[]) => labels.map((label) => ({ label, value: 12.5 }));
const names = (count: number) => many(count, (at) => `plan ${at}`);
const over = (categories: readonly string[], series: Json[], axes: Json = {}, type = 'bar') =>
  chart({ type, series, axis_config: { categories, ...axes } });
const bar = (count: number) => over(names(count), [{ name: 'Monthly', data: points(names(count)) }]);
const rules = (...blocks: Json[]) => findMessageFaults({ text: 'x', blocks }).map(({ rule }) => rule);

describe('a chart', () => {
  it.each(['bar', 'line', 'area'])('can be drawn as %s, with series and axes', (type) => {
    const series = [
      { name: 'Paid', data: points(['a', 'b']) },
      { name: 'Open', data: points(['b', 'a']) },
    ];
    expect(rules(over(['a', 'b'], series, { x_label: 'Plan', y_label: 'EUR' }, type))).toEqual([]);
  });

  it.each([
    ['6 segments', (more: number) => pie(...segments(6 + more)), 'too_many'],
    [
      '6 series',
      (more: number) =>
        over(
          ['a'],
          many(6 + more, (at) => ({ name: `s${at}`, data: points(['a']) })),
        ),
      'too_many',
    ],
    ['a title of 50 characters', (more: number) => ({ ...bar(1), title: x(50 + more) }), 'too_long'],
    ['a label of 20 characters', (more: number) => pie({ label: x(20 + more), value: 1 }), 'too_long'],
    [
      'a name of 20 characters',
      (more: number) => over(['a'], [{ name: x(20 + more), data: points(['a']) }]),
      'too_long',
    ],
    [
      'a title of an axis of 50 characters',
      (more: number) => over(['a'], [{ name: 's', data: points(['a']) }], { y_label: x(50 + more) }),
      'too_long',
    ],
  ])('takes %s, and no more', (_words, make, rule) => {
    expect(rules(make(0))).toEqual([]);
    expect(rules(make(1))).toEqual([rule]);
  });

  it('takes 20 points, and no more', () => {
    expect(rules(bar(20))).toEqual([]);
    expect(rules(bar(21))).toEqual(['too_many', 'too_many']);
  });

  it.each([
    ['no segments', pie(), ['too_few']],
    ['a segment of 0', pie({ label: 'a', value: 0 }), ['too_few']],
    ['a segment below 0', pie({ label: 'a', value: -1 }), ['too_few']],
    ['a value as text', pie({ label: 'a', value: '1.00' }), ['wrong_type']],
    ['no title', { type: 'data_visualization', chart: { type: 'pie', segments: segments(1) } }, ['missing']],
    ['no axes', chart({ type: 'bar', series: [{ name: 's', data: points(['a']) }] }), ['missing']],
    ['another kind', chart({ type: 'donut', segments: segments(1) }), ['unknown_type']],
    ['fields of its own', chart({ type: 'pie', segments: segments(1), legend: true }), ['unknown_field']],
    [
      'two series of one name',
      over(
        ['a'],
        many(2, () => ({ name: 's', data: points(['a']) })),
      ),
      ['duplicate_id'],
    ],
    ['a category twice', over(['a', 'a'], [{ name: 's', data: points(['a', 'a']) }]), ['duplicate_id']],
    ['data for another category', over(['a'], [{ name: 's', data: points(['b']) }]), ['not_an_option']],
    [
      'data for too few categories',
      over(['a', 'b'], [{ name: 's', data: points(['a']) }]),
      ['not_an_option'],
    ],
  ])('is refused with %s', (_words, block, faults) => {
    expect(rules(block)).toEqual(faults);
  });

  it('stands in a message at most twice, and in no form or Home tab', () => {
    expect(rules(bar(1), bar(1))).toEqual([]);
    expect(rules(bar(1), bar(1), bar(1))).toEqual(['too_many']);
    for (const view of [modal([bar(1)]), { type: 'home', blocks: [bar(1)] }])
      expect(findViewFaults(view).map(({ rule }) => rule)).toEqual(['not_allowed_here']);
  });

  it('is read with its title, labels and numbers', async () => {
    const { slack, app } = await startBoth();
    const owner = slack.as('olga');
    const blocks = [bar(2), pie({ label: 'small', value: 5.9 }), actions(button({ action_id: 'go' }))];
    await app.call('chat.postMessage', { channel: 'C0OPS00001', text: 'Costs', blocks });
    await owner.sees('Costs (chart)\nMonthly: plan 0 12.5, plan 1 12.5\nCosts (chart)\nsmall 5.9');
  });
});
