import type { Button, KnownBlock } from '@slack/types';
import { type Approval, labelOfDeed } from '../../domain/approval.ts';
import { countPaidDays } from '../../domain/server.ts';
import { approvalButton, createReviewButton, deleteButton, renewButton, showButton } from '../buttons.ts';
import { actions, confirmation, context, facts, type Message, say, section } from '../kit/blocks.ts';
import { codeLabel, codeTyped, count, mention, plainLabel, slackDate } from '../kit/text.ts';
import {
  approvalWords,
  describeDecision,
  describeWish,
  kindOf,
  priceOf,
  unreachedWords,
} from './approval-words.ts';

/** What a second person gets: who asks for what and why, with the answers; and what became of it in its place. */
export function approvalCard(approval: Approval, currency: string): Message {
  const wish = describeWish(approval, currency);
  if (approval.state !== 'open') return say(wish, section(describeDecision(approval, currency)));
  const { expiresAt } = approval;
  return say(
    wish,
    facts(factsOf(approval, currency)),
    actions(...approvalButtons(approval, currency)),
    context(`${whyWords(approval)} It can be approved until ${slackDate(expiresAt)}; after that it is void.`),
  );
}

/** The two answers; approving asks first, and says what it costs. */
export function approvalButtons(approval: Approval, currency: string): Button[] {
  const { id: approvalId, deed } = approval;
  const name = plainLabel(labelOfDeed(deed), 50);
  const confirm = confirmation({
    title: 'Approve it?',
    text: confirmWords(approval, currency),
    confirm: 'Approve',
    isDangerous: deed.kind === 'delete',
  });
  return [
    approvalButton.approve.element(
      'Approve',
      { approvalId },
      { style: 'primary', confirm, label: `Approve ${name}` },
    ),
    approvalButton.deny.element('Deny', { approvalId }, { label: `Deny ${name}` }),
  ];
}

/** What the one who asked hears: how it ended, and the way to ask again where nothing was done. */
export function approvalMessage(approval: Approval, currency: string): Message {
  if (approval.state === 'open') return say(unreachedWords(approval));
  const buttons = nextButtons(approval);
  const words = approvalWords(approval, currency);
  return say(words, ...(buttons.length > 0 ? [actions(...buttons)] : []));
}

/** What the channel is told of an approved delete. */
export function deletedAnnouncement({ requesterId, decidedBy, deed }: Approval): Message {
  const by = decidedBy === undefined ? '' : `, approved by ${mention(decidedBy)}`;
  return say(`${mention(requesterId)} deleted ${codeLabel(labelOfDeed(deed))}${by}`);
}

/** One of several that wait, in a list. */
export function waitingBlocks(approval: Approval, canAnswer: boolean, currency: string): KnownBlock[] {
  const until = `Until ${slackDate(approval.expiresAt)}.`;
  const line = section(`${describeWish(approval, currency)} ${until}`);
  return canAnswer ? [line, actions(...approvalButtons(approval, currency))] : [line];
}

function factsOf({ deed, askedAt }: Approval, currency: string): [string, string][] {
  const label: [string, string] = ['Label', codeLabel(labelOfDeed(deed))];
  if (deed.kind === 'delete') {
    const { paidUntil } = deed;
    const days = paidUntil === undefined ? undefined : countPaidDays(paidUntil, askedAt);
    const paid = days === undefined ? 'what is left of its paid month' : count(days, 'paid day');
    return [label, ['Id', String(deed.serverId)], ['Lost', `${paid}, and everything on it`]];
  }
  const price: [string, string] = ['Price', priceOf(deed, currency) ?? ''];
  if (deed.purchase.kind === 'renew') {
    const { serverId, paidUntil } = deed.purchase;
    return [label, ['Id', String(serverId)], ['Paid until', slackDate(paidUntil)], price];
  }
  const { plan, location, image } = deed.purchase.order;
  return [
    label,
    ['Plan', codeTyped(plan)],
    ['Location', codeTyped(location)],
    ['Image', codeTyped(image)],
    price,
  ];
}

function whyWords({ isOverBudget, deed }: Approval): string {
  if (isOverBudget) return 'It goes over the budget of this month, which counts what was paid with this app.';
  const what = { create: 'a create of this price', renew: 'a renewal', delete: 'a delete' }[kindOf(deed)];
  return `In this workspace ${what} takes a second person.`;
}

function confirmWords({ deed }: Approval, currency: string): string {
  const label = codeLabel(labelOfDeed(deed), 30);
  if (deed.kind === 'delete') return `${label} is deleted at once. What is paid of it is not refunded.`;
  const price = priceOf(deed, currency);
  if (deed.purchase.kind === 'create')
    return `${label} is created at once, for *${price}*. It is not refunded.`;
  const cost = deed.price === undefined ? 'Its price is not known here' : `It costs *${price}*`;
  return `${label} is renewed at once. ${cost}, and is not refunded.`;
}

function nextButtons({ state, deed, reason = '' }: Approval): Button[] {
  const serverId = deed.kind === 'delete' ? deed.serverId : idOf(deed.purchase);
  if (state === 'approved' || state === 'running' || ['done', 'lost_account'].includes(reason)) return [];
  if (reason === 'no_answer' && serverId !== undefined)
    return [showButton.element('Look again', { id: serverId })];
  if (deed.kind === 'purchase' && deed.purchase.kind === 'create')
    return [createReviewButton.element('Ask again…', deed.purchase.order)];
  if (serverId === undefined || reason === 'unknown_server' || reason === 'not_found') return [];
  const button = deed.kind === 'delete' ? deleteButton : renewButton;
  return [button.element('Ask again…', { id: serverId })];
}

function idOf(purchase: { readonly kind: string; readonly serverId?: number }): number | undefined {
  return purchase.serverId;
}
