import type { FaultRule } from '../hosting/faults.ts';
import type { FaultPreset } from './panel-api.ts';

interface Preset extends FaultPreset {
  readonly rule: FaultRule;
}

/** Faults by the name of what one will see. To add one: a line here; the panel lists it by itself. */
export const PRESETS: readonly Preset[] = [
  {
    id: 'lose_answer',
    title: 'Lose the next answer after the work is done',
    hint: 'The next create or renewal is carried out and charged, and the app never hears of it.',
    rule: { on: 'paid', kind: 'lost_after' },
  },
  {
    id: 'lose_order',
    title: 'Lose the next order before it is read',
    hint: 'The next create or renewal gets no answer, and nothing is charged.',
    rule: { on: 'paid', kind: 'lost_before' },
  },
  {
    id: 'slow',
    title: 'Take 10 s for each answer',
    hint: 'Everything works, slowly; people are told that it takes a while.',
    rule: { on: 'any', kind: 'slow', delayMs: 10_000, times: 'always' },
  },
  {
    id: 'no_balance',
    title: 'Refuse the next order: not enough balance',
    hint: 'The next create or renewal is refused, and nothing is charged.',
    rule: { on: 'paid', kind: 'error', code: 'not_enough_balance' },
  },
  {
    id: 'checking_completes',
    title: 'The supplier doesn’t confirm, then completes',
    hint: 'The next server is charged and appears after 20 s; its root password is never shown.',
    rule: { on: 'create', kind: 'checking_completes', afterMs: 20_000 },
  },
  {
    id: 'checking_refunds',
    title: 'The supplier doesn’t confirm, then refunds',
    hint: 'The next server is charged, and the money is back after 20 s.',
    rule: { on: 'create', kind: 'checking_refunds', afterMs: 20_000 },
  },
  {
    id: 'garbage',
    title: 'Answer garbage',
    hint: 'The work is done, but no answer can be read.',
    rule: { on: 'any', kind: 'garbage', times: 'always' },
  },
  {
    id: 'too_many',
    title: 'Refuse everything: too many requests',
    hint: 'The app waits and tries again by itself.',
    rule: { on: 'any', kind: 'error', code: 'rate_limited', times: 'always' },
  },
  {
    id: 'down',
    title: 'Be down',
    hint: 'Everything is answered with status 500, and nothing is done.',
    rule: { on: 'any', kind: 'status_500', times: 'always' },
  },
];

/** Finds the preset that a rule was made from, whichever account it is for. */
export function findPresetOf({ accountId: _, ...rule }: FaultRule): Preset | undefined {
  const wanted = entriesOf(rule);
  return PRESETS.find((preset) => entriesOf(preset.rule) === wanted);
}

function entriesOf(rule: FaultRule): string {
  return JSON.stringify(Object.entries(rule).sort(([one], [other]) => one.localeCompare(other)));
}
