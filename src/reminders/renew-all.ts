import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { UserId } from '../core/ids.ts';
import { describeMoney } from '../core/money.ts';
import { termsBlocks } from '../purchases/confirm.ts';
import type { Operation } from '../purchases/operation.ts';
import { outcomeWords, type Wording } from '../purchases/outcomes.ts';
import { actions, context, type Message, section, textMessage } from '../slack/kit/blocks.ts';
import type { ActionHandler } from '../slack/kit/button.ts';
import { defineForm, noticeView, type Origin } from '../slack/kit/form.ts';
import { defineModal, type ModalHandler } from '../slack/kit/modal.ts';
import { count, describeNumber, escapeText, mention, slackDate } from '../slack/kit/text.ts';
import { type NotifierParts, notifySafely } from '../slack/outbox.ts';
import { confirmerOf } from '../slack/reply.ts';
import { wordsOfError } from '../words.ts';
import {
  confirmRenewals,
  type RenewalBatch,
  type RenewalResult,
  type RenewalsReview,
  reviewRenewals,
} from './batch.ts';
import {
  digestLabel,
  listNames,
  notYetConfirmed,
  renewAllButton,
  renewAllInput,
  splitLines,
} from './digest-message.ts';

const RENEW_ALL_TITLE = 'Renew all';

/** Submitting pays for what is stored under the form's ID: a form can't carry so many servers. */
const renewAllReview = defineModal('renew_all', z.object({}), z.object({}));

/** 25 servers with the longest labels. */
const REVIEW_ROOM = { sections: 6, characters: 2800 };

export function renewAllView(review: RenewalsReview, origin: Origin, currency: string): ModalView {
  return renewAllReview.view({
    origin,
    metadata: {},
    title: RENEW_ALL_TITLE,
    submit: review.terms.takesApproval ? 'Request approval' : 'Renew and pay',
    blocks: reviewBlocks(review, currency),
  });
}

function reviewBlocks(review: RenewalsReview, currency: string): KnownBlock[] {
  const { renewals, unknown, omitted, terms } = review;
  const lines = renewals.map(({ server, price }) => {
    const cost = price === undefined ? 'price unknown' : escapeText(describeMoney(price, currency));
    return `• ${digestLabel(server.label)} · paid until ${slackDate(server.paidUntil)} · *${cost}*`;
  });
  return [
    section(totalWords(review, currency)),
    ...splitLines(lines, REVIEW_ROOM).sections.map((text) => section(text)),
    ...(omitted > 0
      ? [
          context(
            `${count(omitted, 'more server')} can be renewed afterwards: these are the most urgent ones.`,
          ),
        ]
      : []),
    ...termsBlocks(terms, true, currency),
    ...(terms.budget && unknown.length > 0
      ? [context('Renewals whose price we don’t know don’t count toward the budget.')]
      : []),
    context(
      'Servers are renewed one at a time. Paid months aren’t refunded. If someone else renews one of them first, you aren’t charged for it.',
    ),
  ];
}

function totalWords({ renewals, known, unknown, terms }: RenewalsReview, currency: string): string {
  const charged = terms.takesApproval ? ' as each renewal is approved' : '';
  const amount = escapeText(describeMoney(known, currency));
  const total =
    unknown.length === renewals.length
      ? '*We don’t know the price* of any of them.'
      : unknown.length === 0
        ? `Total: *${amount}*, at the catalog prices of their plans.`
        : `Total: *${amount}*, and *the unknown price of ${count(unknown.length, 'server')}*.`;
  return `One more month for *${count(renewals.length, 'server')}* is charged to the account balance${charged}. ${total}`;
}

const form = defineForm({
  id: 'renew_all',
  title: RENEW_ALL_TITLE,
  input: renewAllInput,
  needs: reviewRenewals,
  load: async (input, request, origin) => {
    const review = await request.execute(reviewRenewals, { ...input, formId: origin.formId });
    return renewAllView(review, origin, request.currency);
  },
});

export const renewAllActions: readonly ActionHandler[] = [
  form.handler,
  renewAllButton.on((input, request) => form.open(input, request)),
];

/** Money effect: pays once for each server of the review; a second press shows that it was confirmed before. */
export const renewAllModal: ModalHandler = renewAllReview.onSubmit(
  confirmRenewals,
  async ({ origin, viewId }, request) => {
    // Before it is confirmed: the outcome may come as soon as it is.
    request.views.follow(origin.formId, viewId);
    const { batch, isNew } = await request.execute(confirmRenewals, { id: origin.formId });
    const words = isNew
      ? `Renewing ${count(batch.renewals.length, 'server')}… You can close this window. We’ll message you the result.`
      : 'Already confirmed. You won’t be charged twice.';
    return { with: noticeView(RENEW_ALL_TITLE, words) };
  },
);

/** 25 outcomes, each with its reason. */
const RESULT_ROOM = { sections: 4, characters: 2800 };

export function batchMessage(results: readonly RenewalResult[], wording: Wording): Message {
  const { sections, omitted } = splitLines(
    results.map((result) => resultWords(result, wording)),
    RESULT_ROOM,
  );
  const rest = results.filter(wasNotSent).map(({ renewal }) => renewal.serverId);
  const again = renewAllButton.element('Renew the rest…', { only: rest }, { style: 'primary' });
  return textMessage(
    batchTitle(results),
    ...sections.map((text) => section(text)),
    ...(omitted > 0
      ? [section(`…and ${describeNumber(omitted)} more. \`/vps reminders\` shows what’s left to renew.`)]
      : []),
    ...(rest.length > 0 ? [actions(again)] : []),
  );
}

/** "3 of 5 servers were renewed; 1 isn’t confirmed yet." */
function batchTitle(results: readonly RenewalResult[]): string {
  const renewed = results.filter(isOwnRenewal).length;
  const part = renewed === results.length ? '' : `${renewed} of `;
  const unconfirmed = results.filter(isUnconfirmed).length;
  const rest = unconfirmed > 0 ? `; ${unconfirmed} ${notYetConfirmed(unconfirmed)}` : '';
  return `*${part}${count(results.length, 'server')}* ${renewed === 1 ? 'was' : 'were'} renewed${rest}.`;
}

/** What the channel reads; undefined when nothing was renewed. */
export function batchAnnouncement(actorId: UserId, results: readonly RenewalResult[]): Message | undefined {
  const renewed = results.filter(isOwnRenewal);
  if (renewed.length === 0) return undefined;
  const names = listNames(renewed.map(({ renewal }) => digestLabel(renewal.label)));
  return textMessage(`${mention(actorId)} renewed ${count(renewed.length, 'server')}: ${names}.`);
}

/** Without a later date it was only decided that it was renewed. */
function isOwnRenewal(result: RenewalResult): boolean {
  return findOwn(result)?.paidUntil !== undefined;
}

function isUnconfirmed(result: RenewalResult): boolean {
  const own = findOwn(result);
  return own !== undefined && own.state !== 'refused' && own.paidUntil === undefined;
}

function findOwn(result: RenewalResult): Operation | undefined {
  return result.kind === 'operation' && result.isOwn ? result.operation : undefined;
}

/** Reasons that say nothing against the renewal itself: it couldn't be sent in time. */
const OUT_OF_TIME: readonly string[] = [
  'stale_confirmation',
  'waited_too_long',
  'shutting_down',
  'rate_limited',
  'not_sent',
];

function wasNotSent(result: RenewalResult): boolean {
  return result.kind === 'not_begun' || OUT_OF_TIME.includes(findOwn(result)?.reason?.code ?? '');
}

function resultWords(result: RenewalResult, wording: Wording): string {
  const label = digestLabel(result.renewal.label);
  switch (result.kind) {
    case 'operation':
      return operationWords(result, label, wording);
    case 'waiting':
      return `✋ ${label} is waiting for another manager’s approval.`;
    case 'failed':
      return `❌ ${label} wasn’t renewed. ${wordsOfError(result.error, wording.currency)}`;
    case 'not_begun':
      return `❌ ${label} wasn’t renewed: the order wasn’t sent in time, so nothing was charged.`;
  }
}

function operationWords(
  { operation, isOwn }: Extract<RenewalResult, { kind: 'operation' }>,
  label: string,
  wording: Wording,
): string {
  const { state, paidUntil, actorId } = operation;
  if (!isOwn) {
    const act = paidUntil === undefined ? `ordered the renewal of ${label}` : `renewed ${label}`;
    return `▫️ ${mention(actorId)} ${act} first, so you weren’t charged.`;
  }
  if (paidUntil !== undefined) return `✅ ${label} was renewed, paid until ${slackDate(paidUntil)}.`;
  return `${state === 'refused' ? '❌' : '⏳'} ${outcomeWords(operation, wording)}`;
}

/** Notifies users of renewals that they confirmed together. Never throws. */
export function createBatchNotifier({ outbox, log, currency, accountUrl }: NotifierParts) {
  return {
    /** Reports the outcome of all of them to the user; true if Slack accepted the message. */
    notifyBatch: (batch: RenewalBatch, results: readonly RenewalResult[]) =>
      notifySafely(batch.id, log, false, async () => {
        const confirmer = confirmerOf(batch);
        const message = batchMessage(results, { currency, accountUrl });
        const isTold = await outbox.notifyConfirmer(confirmer, message);
        const title = results.some(isUnconfirmed) ? 'Renewals sent' : 'Renewals finished';
        const view = () => noticeView(title, batchTitle(results), 'We sent you the details in a message.');
        await outbox.updateFollowed(confirmer, view, { isFinal: true });
        const announcement = batchAnnouncement(batch.actorId, results);
        if (isTold && announcement) await outbox.announce(confirmer, announcement);
        return isTold;
      }),
  };
}
