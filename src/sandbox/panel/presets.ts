import type { FaultRule } from '../hosting/faults.ts';
import type { FaultPreset } from './panel-api.ts';

interface Preset extends FaultPreset {
  readonly rule: FaultRule;
}

/** The faults of the panel, by what a user will see. To add one, add a line here. */
export const PRESETS: readonly Preset[] = [
  {
    id: 'lose_answer',
    title: 'Lose the next response after the work is done',
    hint: 'The next create or renewal is carried out and charged, but the app gets no response.',
    rule: { on: 'paid', kind: 'lost_after' },
  },
  {
    id: 'lose_order',
    title: 'Lose the next order before it arrives',
    hint: 'The next create or renewal gets no response, and nothing is charged.',
    rule: { on: 'paid', kind: 'lost_before' },
  },
  {
    id: 'slow',
    title: 'Slow responses (10 s)',
    hint: 'Everything works, but slowly. Users see that it takes a while.',
    rule: { on: 'any', kind: 'slow', delayMs: 10_000, times: 'always' },
  },
  {
    id: 'no_balance',
    title: 'Insufficient balance',
    hint: 'The next create or renewal is refused, and nothing is charged.',
    rule: { on: 'paid', kind: 'error', code: 'not_enough_balance' },
  },
  {
    id: 'checking_completes',
    title: 'Supplier confirms late: completed',
    hint: 'The next server is charged and appears after 20 s. Its root password is never shown.',
    rule: { on: 'create', kind: 'checking_completes', afterMs: 20_000 },
  },
  {
    id: 'checking_refunds',
    title: 'Supplier confirms late: refunded',
    hint: 'The next server is charged, then refunded after 20 s.',
    rule: { on: 'create', kind: 'checking_refunds', afterMs: 20_000 },
  },
  {
    id: 'garbage',
    title: 'Invalid responses',
    hint: 'The work is done, but no response can be read.',
    rule: { on: 'any', kind: 'garbage', times: 'always' },
  },
  {
    id: 'too_many',
    title: 'Too many requests (rate limit)',
    hint: 'Every request is refused. The app waits and retries automatically.',
    rule: { on: 'any', kind: 'error', code: 'rate_limited', times: 'always' },
  },
  {
    id: 'down',
    title: 'API down (HTTP 500)',
    hint: 'Every request fails with status 500, and nothing is done.',
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
