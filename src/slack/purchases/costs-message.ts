import type { KnownBlock } from '@slack/types';
import type { CostShare, Costs } from '../../app/purchases/read-costs.ts';
import { actions, context, type Message, section } from '../kit/blocks.ts';
import { barChart, type ChartBlock } from '../kit/chart.ts';
import { costsCsvButton } from './buttons.ts';
import { monthlyWords, paidWords, personWords, planWords, unknownWords } from './costs-words.ts';

/** What servers cost a month and what was paid this month, in two paragraphs: for a screen that shows more than that. */
export function costsSummary(costs: Costs, currency: string): KnownBlock[] {
  return [section(monthlyWords(costs, currency)), section(paidWords(costs.paid, currency))];
}

/** All that is known of the costs: with a chart where Slack shows one, and always with the numbers as text. */
export function costsMessage(costs: Costs, currency: string): Message {
  const [monthly, paid] = costsSummary(costs, currency);
  const around = (chart: readonly ChartBlock[]) => [
    ...(monthly ? [monthly] : []),
    ...cautions(costs),
    ...chart,
    ...shareBlocks(costs, currency),
    ...(paid ? [paid] : []),
    ...notes(costs),
    ...(costs.servers.length > 0 ? [actions(costsCsvButton.element('CSV…', {}))] : []),
  ];
  const text = monthlyWords(costs, currency).replaceAll('*', '');
  const chart = chartOf(costs.byPlan, currency);
  return chart.length === 0
    ? { text, blocks: around([]) }
    : { text, blocks: around(chart), plainBlocks: around([]) };
}

function cautions({ isLimited, servers }: Costs): KnownBlock[] {
  if (!isLimited || servers.length === 0) return [];
  return [section('Your role is for some servers only. Other servers and their orders aren’t counted here.')];
}

/** The largest have a bar of their own; Slack's colors and a phone's width don't tell more apart. */
const BARS = 6;

/** One bar alone would say nothing. */
function chartOf(plans: readonly CostShare[], currency: string): ChartBlock[] {
  if (plans.length < 2) return [];
  const rest = plans.slice(BARS).reduce((sum, { monthly }) => sum + monthly, 0);
  const bars = [
    ...plans.slice(0, BARS).map(({ key, monthly }) => ({ label: key, value: monthly / 100 })),
    ...(plans.length > BARS ? [{ label: 'Other', value: rest / 100 }] : []),
  ];
  const yLabel = currency === '' ? 'Per month' : `${currency} per month`;
  return [barChart({ title: 'Monthly costs by plan', name: 'Per month', yLabel, bars })];
}

function shareBlocks(costs: Costs, currency: string): KnownBlock[] {
  const { servers, byPlan, byPerson } = costs;
  return [
    ...(byPlan.length > 0
      ? [section(planWords(byPlan, currency)), section(personWords(byPerson, currency))]
      : []),
    ...(servers.some(({ price }) => !price) ? [section(unknownWords(costs))] : []),
  ];
}

function notes({ byPlan, paid }: Costs): KnownBlock[] {
  const parts = [
    ...(byPlan.length > 0
      ? [
          'Monthly costs are the price of each server’s plan today, if every server is renewed. The hosting API doesn’t say what a renewal costs.',
        ]
      : []),
    ...(paid.renewals.count > paid.renewals.unpriced
      ? ['Renewals are counted at the price shown when they were confirmed.']
      : []),
  ];
  return parts.length > 0 ? [context(parts.join(' '))] : [];
}
