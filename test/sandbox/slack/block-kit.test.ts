import { describe, expect, it } from 'vitest';
import { findMessageFaults, findViewFaults } from '../../../src/sandbox/slack/block-kit/find-faults.ts';
import {
  actions,
  button,
  cell,
  conversations,
  divider,
  form,
  grid,
  input,
  type Json,
  many,
  modal,
  mrkdwn,
  option,
  plain,
  section,
  select,
  table,
  textInput,
  x,
} from './support/block-samples.ts';

const rules = (faults: readonly { rule: string }[]) => faults.map(({ rule }) => rule);
const inMessage = (...blocks: Json[]) => rules(findMessageFaults({ text: 'x', blocks }));
const inModal = (...blocks: Json[]) => rules(findViewFaults(form(blocks)));

const over = (categories: readonly string[], data = categories, more: Json = {}): Json => ({
  type: 'data_visualization',
  title: 'Costs',
  chart: {
    type: 'bar',
    series: [{ name: 'Monthly', data: data.map((label) => ({ label, value: 12.5 })) }],
    axis_config: { categories },
  },
  ...more,
});
const bars = (count: number) => over(many(count, (at) => `plan ${at}`));

const asking = (confirm: Json) => actions(button({ confirm }));

type Limit = readonly [string, (over: number) => Json[]];

/** At the limit it may be sent; one more and Slack refuses it. */
const IN_A_MESSAGE: readonly Limit[] = [
  ['50 blocks in a message', (over) => many(50 + over, () => divider)],
  ['3000 characters in a section', (over) => [section(x(3000 + over))]],
  ['150 characters in a header', (over) => [{ type: 'header', text: plain(x(150 + over)) }]],
  ['10 fields', (over) => [{ type: 'section', fields: many(10 + over, () => plain('x')) }]],
  ['25 elements in actions', (over) => [actions(...many(25 + over, () => button()))]],
  ['75 characters on a button', (over) => [actions(button({ text: plain(x(75 + over)) }))]],
  ['2000 characters of a button value', (over) => [actions(button({ value: x(2000 + over) }))]],
  ['100 options', (over) => [select({ options: many(100 + over, (i) => option(`${i}`)) })]],
  ['75 characters of an option', (over) => [select({ options: [option(x(75 + over), 'v')] })]],
  ['300 characters of a dialog', (over) => [asking({ text: plain(x(300 + over)) })]],
  ['101 rows of a data table', (over) => [table(grid(101 + over, 2))]],
  ['10,000 characters in data tables', (over) => [table([[cell('h')], [cell(x(9_999 + over))]])]],
  ['2 charts in a message', (more) => many(2 + more, () => bars(1))],
  ['12,999 characters in all', (over) => [...many(4, () => section(x(3000))), section(x(999 + over))]],
];
const IN_A_MODAL: readonly Limit[] = [
  ['100 blocks in a modal', (over) => many(100 + over, () => divider)],
  [
    '2000 characters of a label',
    (over) => [input({ type: 'plain_text_input' }, { label: plain(x(2000 + over)) })],
  ],
  ['3000 characters in a text input', (over) => [textInput({ max_length: 3000 + over })]],
];

describe('the limits', () => {
  it.each([
    ...IN_A_MESSAGE.map((limit) => [...limit, inMessage] as const),
    ...IN_A_MODAL.map((limit) => [...limit, inModal] as const),
  ])('%s, and not one more', (_name, make, findFaults) => {
    expect(findFaults(...make(0))).toEqual([]);
    expect(findFaults(...make(1)).length).toBeGreaterThan(0);
  });

  it.each([
    ['24 characters of a title', (over: number) => modal([], { title: plain(x(24 + over)) })],
    ['3000 characters of metadata', (over: number) => modal([], { private_metadata: x(3000 + over) })],
  ])('%s, and not one more', (_name, make) => {
    expect(findViewFaults(make(0))).toEqual([]);
    expect(rules(findViewFaults(make(1)))).toEqual(['too_long']);
  });

  it('cover the top-level text of a message', () => {
    expect(rules(findMessageFaults({ text: x(40_000) }))).toEqual([]);
    expect(rules(findMessageFaults({ text: x(40_001) }))).toEqual(['too_long']);
  });

  it('count the bytes of a view', () => {
    const blocks = many(84, () => section('ü'.repeat(1500)));
    expect(rules(findViewFaults(modal(blocks)))).toEqual(['too_large']);
  });
});

describe('what Slack refuses, regardless of its size', () => {
  it.each<[string, string, Json]>([
    ['a block of an unknown type', 'unknown_type', { type: 'dropdown' }],
    ['an element of an unknown type', 'unknown_type', actions({ type: 'knob' })],
    ['an unknown field', 'unknown_field', { ...section('x'), colour: 'red' }],
    ['an empty text', 'too_short', section('')],
    ['mrkdwn on a button', 'wrong_type', actions(button({ text: mrkdwn('x') }))],
    ['a select without options', 'missing', select({ options: undefined })],
    ['an initial option that is not offered', 'not_an_option', select({ initial_option: option('b') })],
    [
      'options and groups at once',
      'not_allowed_here',
      select({ option_groups: [{ label: plain('g'), options: [option('c')] }] }),
    ],
    ['a button as an input', 'unknown_type', input(button())],
    ['a filter of conversations that filters nothing', 'missing', conversations({})],
    ['a data table without a caption', 'missing', table(grid(2, 2), { caption: undefined })],
    ['an empty cell', 'empty_cell', table([[cell('h')], [cell('')]])],
    ['rows of unequal length', 'uneven_rows', table([[cell('a'), cell('b')], [cell('c')]])],
    ['a chart without bars', 'too_few', over(['a'], [])],
    ['a chart with data for too few categories', 'not_an_option', over(['a', 'b'], ['a'])],
  ])('%s', (_name, rule, block) => {
    expect(inMessage(block)).toEqual([rule]);
  });

  it('the same block_id twice, the same action_id twice within a block', () => {
    expect(inMessage({ ...divider, block_id: 'a' }, { ...divider, block_id: 'a' })).toEqual(['duplicate_id']);
    expect(inMessage(actions(button({ action_id: 'a' }), button({ action_id: 'a' })))).toEqual([
      'duplicate_id',
    ]);
    expect(inMessage(actions(button({ action_id: 'a' })), actions(button({ action_id: 'a' })))).toEqual([]);
  });

  it('a modal with inputs but no submit, a data table or a chart in a modal, a modal without title', () => {
    expect(rules(findViewFaults(modal([textInput()])))).toEqual(['submit_required']);
    expect(inModal(table(grid(2, 2)))).toEqual(['not_allowed_here']);
    expect(inModal(bars(1))).toEqual(['not_allowed_here']);
    expect(rules(findViewFaults({ type: 'home', blocks: [bars(1)] }))).toEqual(['not_allowed_here']);
    expect(rules(findViewFaults({ type: 'modal', blocks: [] }))).toEqual(['missing']);
    expect(rules(findViewFaults({ type: 'home', blocks: [table(grid(2, 2))] }))).toEqual([]);
  });

  it('blocks that are not a list, and views that are not objects', () => {
    expect(rules(findMessageFaults({ blocks: 'x' }))).toEqual(['wrong_type']);
    expect(findViewFaults(undefined)).not.toEqual([]);
  });
});

describe('what Slack accepts', () => {
  it('preformatted text, groups, every kind of input, and an initial option with other emoji settings', () => {
    const rich = {
      type: 'rich_text',
      elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'secret' }] }],
    };
    const initial = { text: { ...plain('a'), emoji: true }, value: 'a' };
    expect(inMessage(rich, select({ initial_option: initial }))).toEqual([]);
    const groups = { options: undefined, option_groups: [{ label: plain('g'), options: [option('a')] }] };
    expect(inMessage(select(groups))).toEqual([]);
    expect(
      inModal(
        input({ type: 'external_select', min_query_length: 0 }),
        textInput({ multiline: true }),
        input({ type: 'users_select', initial_user: 'U1', placeholder: plain('Choose') }),
        input({ type: 'conversations_select', filter: { include: ['public', 'private'] } }),
      ),
    ).toEqual([]);
  });

  it('names the place of the fault', () => {
    const [fault] = findMessageFaults({
      text: 'x',
      blocks: [divider, actions(button({ text: plain(x(76)) }))],
    });
    expect(fault).toEqual({
      path: '/blocks/1/elements/0/text/text',
      rule: 'too_long',
      words: 'has 76 characters; at most 75',
    });
  });
});
