import { describe, expect, it } from 'vitest';
import { findMessageFaults, findViewFaults } from '../../../src/sandbox/slack/block-kit/find-faults.ts';
import { type Json, many, modal, x } from './support/block-samples.ts';

const chart = (kind: Json, more: Json = {}) => ({
  type: 'data_visualization',
  title: 'Costs',
  chart: kind,
  ...more,
});
const points = (labels: readonly string[]) => labels.map((label) => ({ label, value: 12.5 }));
const names = (count: number) => many(count, (at) => `plan ${at}`);
const over = (categories: readonly string[], series: Json[], axes: Json = {}) =>
  chart({ type: 'bar', series, axis_config: { categories, ...axes } });
const bar = (count: number) => over(names(count), [{ name: 'Monthly', data: points(names(count)) }]);
const rules = (...blocks: Json[]) => findMessageFaults({ text: 'x', blocks }).map(({ rule }) => rule);

describe('a chart', () => {
  it('has bars of one series, in any order, and a name for its axis', () => {
    const paid = { name: 'Paid', data: points(['b', 'a']) };
    expect(rules(over(['a', 'b'], [paid], { y_label: 'EUR' }))).toEqual([]);
    expect(rules(over(['a', 'b'], [paid, { ...paid, name: 'Open' }]))).toEqual(['too_many']);
  });

  it.each([
    ['a title of 50 characters', (more: number) => ({ ...bar(1), title: x(50 + more) }), ['too_long']],
    [
      'a label of 20 characters',
      (more: number) => over([x(20 + more)], [{ name: 's', data: points([x(20 + more)]) }]),
      ['too_long', 'too_long'],
    ],
    [
      'a name of 20 characters',
      (more: number) => over(['a'], [{ name: x(20 + more), data: points(['a']) }]),
      ['too_long'],
    ],
    [
      'a title of an axis of 50 characters',
      (more: number) => over(['a'], [{ name: 's', data: points(['a']) }], { y_label: x(50 + more) }),
      ['too_long'],
    ],
    ['20 points', (more: number) => bar(20 + more), ['too_many', 'too_many']],
  ])('takes %s, and no more', (_words, make, faults) => {
    expect(rules(make(0))).toEqual([]);
    expect(rules(make(1))).toEqual(faults);
  });

  it.each([
    ['no bars', over(['a'], [{ name: 's', data: [] }]), ['too_few']],
    ['a value as text', over(['a'], [{ name: 's', data: [{ label: 'a', value: '1.00' }] }]), ['wrong_type']],
    ['no title', { ...bar(1), title: undefined }, ['missing']],
    ['no axes', chart({ type: 'bar', series: [{ name: 's', data: points(['a']) }] }), ['missing']],
    ['another kind', chart({ type: 'pie', segments: points(['a']) }), ['unknown_type']],
    ['fields of its own', { ...bar(1), legend: true }, ['unknown_field']],
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
});
