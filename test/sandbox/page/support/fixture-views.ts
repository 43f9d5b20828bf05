import type { Json } from '../../../../src/sandbox/slack/page-api.ts';
import { mrkdwn, option, plain, section } from './fixture-blocks.ts';
import { everyBlock } from './fixture-messages.ts';

/** Options of an external select that fit what was typed. */
export function plans(typed: string): readonly Json[] {
  const all = [
    option('small · 4.90 a month', 'small', '1 vCPU, 2 GB RAM, 40 GB disk'),
    option('medium · 9.90 a month', 'medium', '2 vCPU, 4 GB RAM, 80 GB disk'),
    option('large · 19.90 a month', 'large', '4 vCPU, 8 GB RAM, 160 GB disk'),
  ];
  return all.filter((each) => JSON.stringify(each).toLowerCase().includes(typed.toLowerCase()));
}

const modal = (callbackId: string, title: string, blocks: readonly Json[], more: Json = {}): Json => ({
  type: 'modal',
  callback_id: callbackId,
  title: plain(title),
  close: plain('Cancel'),
  blocks,
  ...more,
});

export const loadingForm = () => modal('loading', 'Create a server', [section('Reading the catalog…')]);

/** The form of choices. */
export function createForm(): Json {
  const input = (id: string, label: string, element: Json, more: Json = {}): Json => ({
    type: 'input',
    block_id: id,
    label: plain(label),
    element,
    ...more,
  });
  const plan = {
    type: 'external_select',
    action_id: 'choice',
    min_query_length: 0,
    placeholder: plain('Choose a plan'),
  };
  const location = {
    type: 'static_select',
    action_id: 'choice',
    placeholder: plain('Choose a location'),
    options: ['fra · Frankfurt', 'ams · Amsterdam', 'hel · Helsinki'].map((text) =>
      option(text, text.slice(0, 3)),
    ),
  };
  const label = { type: 'plain_text_input', action_id: 'text', placeholder: plain('web-1'), max_length: 60 };
  const tags = {
    type: 'multi_static_select',
    action_id: 'choice',
    placeholder: plain('Choose tags'),
    options: ['production', 'staging', 'test'].map((text) => option(text, text)),
  };
  const blocks = [
    section('Nothing is ordered yet: the *price* comes next.'),
    input('plan', 'Plan', plan),
    input('location', 'Location', location),
    input('label', 'Label', label, { hint: plain('Its name here and in the account.') }),
    input('tags', 'Tags', tags, { optional: true }),
  ];
  return modal('create', 'Create a server', blocks, { submit: plain('Review') });
}

/** The review with the price. */
export function reviewForm(label: string): Json {
  const facts = { type: 'section', fields: [mrkdwn(`*Label*\n\`${label}\``), mrkdwn('*Plan*\nsmall')] };
  const blocks = [
    section('*4.90* a month, now, from the account’s balance.'),
    facts,
    section('A paid month is not refunded.'),
  ];
  return modal('review', 'Review and pay', blocks, { submit: plain('Create and pay') });
}

export const homeView = (): Json => ({
  type: 'home',
  blocks: [
    { type: 'header', text: plain('Your servers') },
    section('3 running, 1 stopped.'),
    ...everyBlock().blocks.slice(0, 3),
  ],
});
