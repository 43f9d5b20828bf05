import type { Button } from '@slack/types';
import { z } from 'zod';
import { describeReason, type ReasonWords } from '../core/errors.ts';
import { PART_OF_LIST } from '../core/find-server.ts';
import type { UserId } from '../core/ids.ts';
import { describeMoney, describeMonthly, money } from '../core/money.ts';
import { showButton } from '../servers/buttons.ts';
import { actions, type Message, textMessage } from '../slack/kit/blocks.ts';
import { defineButton } from '../slack/kit/button.ts';
import { noticeView } from '../slack/kit/form.ts';
import { codeLabel, codeTyped, escapeText, mention, slackDate } from '../slack/kit/text.ts';
import { type NotifierParts, notifySafely } from '../slack/outbox.ts';
import { confirmerOf } from '../slack/reply.ts';
import { budgetWords, frozenWords, wordsOfHosting, wordsOfRefusal } from '../words.ts';
import { createReviewButton, renewButton, toKeys } from './catalog.ts';
import {
  isProven,
  labelOf,
  type Operation,
  type OperationRefusal,
  type ProvenRefusalDetails,
  type UnconfirmedDetails,
  type UnconfirmedReason,
} from './operation.ts';
import type { HeldPassword } from './password-store.ts';
import { againWords, passwordButton, passwordParts, sendAll } from './passwords.ts';

export const decideButton = defineButton('decide', z.object({ operationId: z.string() }));

export type OperationNotifier = ReturnType<typeof createOperationNotifier>;

/**
 * Notifies users of the outcome of what they confirmed: ephemerally where the form was opened, else by a direct message without
 * the password. No method throws.
 */
export function createOperationNotifier(parts: NotifierParts) {
  const { log, outbox, currencyOf, accountUrl } = parts;
  const wordingFor = async ({ workspaceId }: Operation): Promise<Wording> => ({
    accountUrl,
    currency: await currencyOf(workspaceId),
  });
  return {
    /** Announces that it is being carried out; the outcome replaces that. The order doesn't wait for it. */
    announceStart: (operation: Operation): void => {
      const announcing = outbox.startAnnouncement(confirmerOf(operation), announcement(operation));
      void notifySafely(operation.id, log, undefined, () => announcing);
    },
    /**
     * Reports the operation's state to the actor, with the root password if one is held. The password is shown ephemerally or
     * not at all; the rest may come as a direct message where no ephemeral message gets through. `reported` is the new
     * server's state, as the API has just reported it. False if Slack accepted no message.
     */
    notify: (operation: Operation, held: HeldPassword | undefined, reported?: string): Promise<boolean> =>
      notifySafely(operation.id, log, false, async () => {
        const { workspaceId, actorId, decidedBy, isLate, state } = operation;
        const wording = await wordingFor(operation);
        const confirmer = confirmerOf(operation);
        const messages = held
          ? deliveryMessages(operation, held, wording, reported)
          : [outcomeMessage(operation, wording, reported)];
        // The last resort says everything but the password, which `/vps password` shows.
        const sendDirectly = (userId: UserId) =>
          outbox.sendDirectly(workspaceId, userId, outcomeMessage(operation, wording));
        const isShown = await sendAll(messages, outbox.replyTo(confirmer));
        const isNotified = isShown || (await sendDirectly(actorId));
        const view = () => outcomeView(operation, { isShown, isNotified }, wording);
        await outbox.updateFollowed(confirmer, view, { isFinal: state !== 'unconfirmed' });
        if (!isNotified) return false;
        if (isLate && decidedBy !== undefined && decidedBy !== actorId) await sendDirectly(decidedBy);
        if (state === 'settled') await outbox.announce(confirmer, announcement(operation));
        else await outbox.updateAnnouncement(confirmer, announcement(operation));
        return true;
      }),
    /** Notifies the actor that the order has not been sent yet, because others come first. */
    notifyQueued: (operation: Operation): Promise<void> =>
      notifyBriefly(operation, queuedWords(operation), parts),
    /** Notifies the actor that the store fails, so nobody knows yet whether the order will go through. */
    notifyUnsaved: (operation: Operation): Promise<void> =>
      notifyBriefly(
        operation,
        `${codeLabel(labelOf(operation.purchase))}: ${wordsOfRefusal('order_unsaved', {}, '')}`,
        parts,
      ),
    notifyLowBalance: (operation: Operation, owners: readonly UserId[]): Promise<void> =>
      notifySafely(operation.id, log, undefined, async () => {
        const message = lowBalanceMessage(operation, await wordingFor(operation));
        await Promise.all(owners.map((id) => outbox.sendDirectly(operation.workspaceId, id, message)));
      }),
  };
}

/** While the outcome is open; by a path that needs no store, if the stored one fails. */
function notifyBriefly(operation: Operation, words: string, { outbox, log }: NotifierParts): Promise<void> {
  const confirmer = confirmerOf(operation);
  const message = textMessage(words);
  return notifySafely(operation.id, log, undefined, async () => {
    await outbox.updateFollowed(confirmer, () => noticeView(titleOf(operation), words), { isFinal: false });
    const isShown = await outbox
      .replyTo(confirmer)
      .send(message)
      .catch(() => false);
    if (!isShown) await outbox.sendDirectly(operation.workspaceId, operation.actorId, message);
  });
}

function titleOf({ purchase }: Operation): string {
  return purchase.kind === 'create' ? 'Create a server' : 'Renew a server';
}

export function outcomeTitle(operation: Operation): string {
  const { state, purchase, reason, isLate } = operation;
  const isCreate = purchase.kind === 'create';
  switch (state) {
    case 'settled':
      if (isLate) return titleOf(operation);
      return isCreate ? 'Server ordered' : 'Server renewed';
    case 'refused':
      if (!isProven(reason)) return 'Order closed';
      return isCreate ? 'Server not created' : 'Server not renewed';
    case 'unconfirmed':
      return 'Not confirmed yet';
    default:
      return titleOf(operation);
  }
}

/** The details appear once: in the message if there is one, otherwise in the form. */
function outcomeView(
  operation: Operation,
  { isShown, isNotified }: { readonly isShown: boolean; readonly isNotified: boolean },
  wording: Wording,
) {
  const title = outcomeTitle(operation);
  if (isShown) return noticeView(title, pointerWords(operation));
  const password =
    operation.state === 'settled' && operation.hasPassword
      ? [`${passwordCommand(operation)} shows the root password.`]
      : [];
  const words = isNotified
    ? 'We sent you the details in a direct message.'
    : outcomeWords(operation, wording);
  return noticeView(title, words, ...password);
}

/** By the label where a manager has seen the server in an account that is not connected any more: its ID is not known. */
function passwordCommand({ serverId, purchase }: Operation): string {
  return codeTyped(`/vps password ${serverId ?? labelOf(purchase)}`);
}

/** Says what has become of an order, for the user who confirmed it, with the root password in blocks of its own. */
export function deliveryMessages(
  operation: Operation,
  held: HeldPassword,
  wording: Wording,
  reported?: string,
): Message[] {
  const text = outcomeWords(operation, wording, reported);
  const parts = passwordParts(held, againWords(held), ...showButtons(operation));
  return parts.map((blocks, at) => (at === 0 ? textMessage(text, ...blocks) : { text, blocks }));
}

/** Says what has become of an order, without the root password. */
export function outcomeMessage(operation: Operation, wording: Wording, reported?: string): Message {
  const words = outcomeWords(operation, wording, reported);
  const buttons = nextButtons(operation);
  return textMessage(words, ...(buttons.length > 0 ? [actions(...buttons)] : []));
}

function showButtons({ serverId }: Operation): Button[] {
  return serverId === undefined ? [] : [showButton.element('Show server', { id: serverId })];
}

function nextButtons(operation: Operation): Button[] {
  const { state, serverId, hasPassword, needsDecision, id } = operation;
  if (state === 'settled') {
    const isHeld = hasPassword && serverId !== undefined;
    return [
      ...(isHeld ? [passwordButton.element('Show root password', { typed: String(serverId) })] : []),
      ...showButtons(operation),
    ];
  }
  if (needsDecision) return [decideButton.element('Resolve…', { operationId: id })];
  return state === 'refused' ? againButtons(operation) : [];
}

/** Opens a new review with its own confirmation: nothing is ever sent again automatically. */
function againButtons({ purchase, reason }: Operation): Button[] {
  if (purchase.kind === 'create') return [createReviewButton.element('Try again', toKeys(purchase.order))];
  const id = purchase.serverId;
  if (reason?.code === 'unknown_server' || reason?.code === 'not_found') return [];
  if (reason?.code === 'already_renewed') return [showButton.element('Show server', { id })];
  return [renewButton.element('Try again', { id })];
}

/** The channel's message, which is edited as the order proceeds. Only its user sees why it failed. */
export function announcement({ state, actorId, purchase, paidUntil, reason }: Operation): Message {
  const user = mention(actorId);
  const label = codeLabel(labelOf(purchase));
  const isCreate = purchase.kind === 'create';
  switch (state) {
    case 'prepared':
    case 'sent':
      return textMessage(`${user} is ${isCreate ? 'creating' : 'renewing'} ${label}…`);
    case 'settled': {
      const until = isCreate || paidUntil === undefined ? '' : ` until ${slackDate(paidUntil)}`;
      return textMessage(`${user} ${isCreate ? 'created' : 'renewed'} ${label}${until}`);
    }
    case 'unconfirmed':
      return textMessage(
        `${user} ${isCreate ? 'ordered' : 'is renewing'} ${label}. The order isn’t confirmed yet; we’re checking.`,
      );
    case 'refused': {
      const what = `${user}’s ${isCreate ? 'order for' : 'renewal of'} ${label}`;
      return textMessage(
        `${what} ${isProven(reason) ? 'didn’t go through' : 'was closed without confirmation'}.`,
      );
    }
  }
}

/**
 * Says what has become of an order, in words alone. No secret is ever in them. `reported` is the new server's state, as the API
 * just said.
 */
export function outcomeWords(operation: Operation, wording: Wording, reported?: string): string {
  const label = codeLabel(labelOf(operation.purchase));
  const isCreate = operation.purchase.kind === 'create';
  const done = isCreate ? 'created' : 'renewed';
  switch (operation.state) {
    case 'prepared':
    case 'sent':
      return progressWords(operation);
    case 'settled':
      if (operation.isLate) return lateWords(operation, label, isCreate);
      if (isCreate) return createdWords(operation, label, wording, reported);
      return `${label} was renewed for a month${operation.paidUntil === undefined ? '' : ` and is now paid until ${slackDate(operation.paidUntil)}`}.`;
    case 'refused':
      return `${label} ${refusalWords(operation.reason, done, { ...wording, price: operation.price })}`;
    case 'unconfirmed':
      return operation.needsDecision
        ? decisionWords(operation.reason, label, isCreate, accountPage(wording.accountUrl))
        : `We’re not sure yet whether ${label} was ${done}: ${unconfirmedWords(operation.reason)}. We won’t retry, so you can’t be charged twice. We’re checking and will post the result here.`;
  }
}

export function progressWords({ purchase }: Operation): string {
  return `${purchase.kind === 'create' ? 'Creating' : 'Renewing'} ${codeLabel(labelOf(purchase))}…`;
}

export function queuedWords(operation: Operation): string {
  const label = codeLabel(labelOf(operation.purchase));
  return `Your order for ${label} is queued: the hosting API is still busy with earlier requests. We’ll post the result here. Don’t order it again.`;
}

/** What an open form says at the end, where Slack took a message with the details: that doesn't prove that it was shown. */
export function pointerWords(operation: Operation): string {
  const { state, purchase, hasPassword } = operation;
  const what = `Your ${purchase.kind === 'create' ? 'order for' : 'renewal of'} ${codeLabel(labelOf(purchase))}`;
  const sent = (what: string) => `We sent you ${what} in a message that only you can see.`;
  switch (state) {
    case 'prepared':
    case 'sent':
      return progressWords(operation);
    case 'settled':
      return hasPassword
        ? `${what} went through. ${sent('the root password')} If you don’t see it, ${passwordCommand(operation)} shows it again.`
        : `${what} went through. ${sent('the details')}`;
    case 'refused':
      return `${what} ${isProven(operation.reason) ? 'didn’t go through' : 'was closed without confirmation'}. ${sent('the details')}`;
    case 'unconfirmed':
      return `${what} isn’t confirmed yet. You can close this window. We’ll message you the result.`;
  }
}

function createdWords(
  operation: Operation,
  label: string,
  { currency }: Wording,
  reported: string | undefined,
): string {
  const { serverId, price } = operation;
  if (serverId === undefined)
    return `${label} was created: a manager found it on the hosting account’s page.`;
  const cost = price === undefined ? [] : [escapeText(describeMonthly(price, currency))];
  const facts = `(${[`ID ${serverId}`, ...cost].join(', ')})`;
  if (!operation.hasPassword)
    return `${label} was created ${facts}, but its root password didn’t reach us, and the API can’t show it again. You were charged once. Ask the hosting company whether they can reset the password. Otherwise, delete ${label} and create a new server: the paid month isn’t refunded, and the new server costs another one.`;
  const show = `\`/vps show ${serverId}\``;
  if (reported?.toLowerCase() === 'creating')
    return `${label} is being created${cost.length > 0 ? ` (${cost.join()})` : ''}. ${show} shows its address once it has one.`;
  const state = reported ? ` The hosting API reports its state as ${codeTyped(reported)}.` : '';
  return `${label} was created ${facts}.${state} ${show} shows its state and address.`;
}

/** What was said before was wrong, or what is there now was made in another way: only what is seen is said. */
function lateWords(operation: Operation, label: string, isCreate: boolean): string {
  const { serverId, paidUntil, decidedBy } = operation;
  const seen = isCreate
    ? `${label} has appeared in the hosting account (ID ${serverId})`
    : `${label} is now paid until ${paidUntil === undefined ? 'a later date' : slackDate(paidUntil)}`;
  const before = decidedBy === undefined ? 'We told you earlier' : `${mention(decidedBy)} had decided`;
  return `${seen}. ${before} that ${label} wasn’t ${isCreate ? 'created' : 'renewed'}. Check the hosting account for the charge.`;
}

const NO_SECOND_CHARGE = 'We won’t retry, so you can’t be charged twice, and we keep checking.';

function decisionWords(reason: UnconfirmedReason, label: string, isCreate: boolean, page: string): string {
  const doubt = `We can’t tell whether ${label} was ${isCreate ? 'created' : 'renewed'}`;
  const [cause, step] = decisionParts(reason, label, isCreate, page);
  return `${doubt}: ${cause}. ${step} ${NO_SECOND_CHARGE}`;
}

function decisionParts(
  reason: UnconfirmedReason,
  label: string,
  isCreate: boolean,
  page: string,
): [string, string] {
  const why = unconfirmedWords(reason);
  switch (reason.code) {
    case 'account_changed':
      return [why, 'Check the page of the account that was connected before, then press *Resolve…*.'];
    case 'no_api_key':
    case 'key_rejected':
      return [why, `Reconnect with \`/vps connect\`, or check ${page} and press *Resolve…*.`];
    case 'restored':
      return [
        why,
        `Check on ${page} whether ${label} was ${isCreate ? 'created' : 'renewed'}, then press *Resolve…*.`,
      ];
    case 'not_found_yet':
      return [
        isCreate
          ? `${label} hasn’t appeared in the hosting account`
          : `the paid-until date of ${label} hasn’t changed`,
        `We can’t rule out a charge: check ${page}, then press *Resolve…*.`,
      ];
    default:
      return isCreate
        ? [
            'some new servers match the order only partly',
            `Compare ${page} with \`/vps list\`, then press *Resolve…*.`,
          ]
        : [
            `the paid-until date of ${label} doesn’t match the order`,
            `Check ${page}, then press *Resolve…*.`,
          ];
  }
}

/** The message to owners, at most once a day: they can top up. */
export function lowBalanceMessage({ actorId, purchase, price }: Operation, wording: Wording): Message {
  const act = `${purchase.kind === 'create' ? 'create' : 'renew'} ${codeLabel(labelOf(purchase))}`;
  const needed =
    price === undefined ? '' : ` At least ${escapeText(describeMoney(price, wording.currency))} is needed.`;
  return textMessage(
    `${mention(actorId)} couldn’t ${act}: the hosting account’s balance is too low.${needed} Nothing was charged. ${topUpWords(wording.accountUrl)}, so that orders go through again.`,
  );
}

export interface Wording {
  /** The currency of prices; empty if the operator has not set one. */
  readonly currency: string;
  /** The hosting account's page (`HOSTING_ACCOUNT_URL`). */
  readonly accountUrl?: string | undefined;
}

interface Refused extends Wording {
  readonly price: Operation['price'];
}

/** "wasn’t created, and nothing was charged. …": says so only with proof, whatever the words of the reason are. */
function refusalWords(reason: OperationRefusal, done: string, refused: Refused): string {
  if (!isProven(reason))
    return `wasn’t ${done}. A manager checked the hosting account and closed this order. If it was charged after all, we’ll tell you here.`;
  // The hosting company returns the charge of a server that it can't create (docs/hosting-api.md 3).
  const money =
    reason.code === 'not_created' ? 'the month’s charge is back on the balance' : 'nothing was charged';
  return `wasn’t ${done}, and ${money}. ${describeReason(PROVEN, reason, refused)}`;
}

const PROVEN: ReasonWords<ProvenRefusalDetails, [refused: Refused]> = {
  role_needed: (details, { currency }) => wordsOfRefusal('role_needed', details, currency),
  identity_unknown: () => 'Slack couldn’t confirm your role. Try again in a minute.',
  approval_needed: () => 'This order now needs another manager’s approval. Try again to request it.',
  over_budget: (details, { currency }) =>
    `${budgetWords(details, currency)} An owner can change the budget with \`/vps settings\`.`,
  purchases_frozen: (details) => frozenWords(details),
  unknown_server: (details, { currency }) => wordsOfRefusal('unknown_server', details, currency),
  unknown_choice: (details, { currency }) => wordsOfRefusal('unknown_choice', details, currency),
  no_api_key: (details, { currency }) => wordsOfRefusal('no_api_key', details, currency),
  key_unreadable: (details, { currency }) => wordsOfRefusal('key_unreadable', details, currency),
  price_moved: ({ before, now }, { currency }) =>
    `The price changed from ${escapeText(describeMonthly(money(before), currency))} to ${escapeText(describeMonthly(money(now), currency))} while you were looking at this. Try again to review the new price.`,
  already_renewed: ({ label, paidUntil }) =>
    `${codeLabel(label)} was renewed while you were looking at this and is now paid until ${slackDate(paidUntil)}.`,
  paid_until_unknown: ({ label }) =>
    `The hosting API doesn’t report when the paid time of ${codeLabel(label)} ends, so we couldn’t verify a renewal. Renew ${codeLabel(label)} on the hosting account’s page.`,
  create_in_doubt: ({ label }) =>
    `An earlier order for ${codeLabel(label)} is still unconfirmed. Wait for its result, or choose another label.`,
  create_in_doubt_elsewhere: ({ label }) =>
    `An order for ${codeLabel(label)} from another workspace on the same hosting account is still unconfirmed. Choose another label, or try again when it’s resolved there.`,
  label_taken: ({ label }) =>
    `A server called ${codeLabel(label)} has appeared since you reviewed the order. If you still want another server with this label, try again.`,
  renewed_elsewhere: ({ label }) =>
    `Another workspace on the same hosting account has already ordered this renewal of ${codeLabel(label)}.`,
  stale_confirmation: () => 'The order wasn’t sent in time. Try again.',
  list_incomplete: () => `${PART_OF_LIST} Try again later.`,
  account_changed: () => 'The hosting account was reconnected after you confirmed.',
  label_moved: ({ before, now }) =>
    `The server is now called ${codeLabel(now)} instead of ${codeLabel(before)}.`,
  waited_too_long: () => 'The order waited too long for the hosting API’s rate limit. Try again in a minute.',
  shutting_down: () => 'The app is restarting. Try again in a moment.',
  unauthorized: () => wordsOfHosting({ code: 'unauthorized' }),
  not_allowed: () => wordsOfHosting({ code: 'not_allowed' }),
  bad_request: () => wordsOfHosting({ code: 'bad_request' }),
  not_enough_balance: (_, refused) => balanceWords(refused),
  limit: () => wordsOfHosting({ code: 'limit' }),
  not_created: () => 'The hosting company couldn’t create the server.',
  // As the answer to one of the reads before the order: the answer to the order itself would leave it unconfirmed.
  checking: () => 'The hosting API wasn’t ready to answer. Try again in a minute.',
  not_found: () => wordsOfHosting({ code: 'not_found' }),
  wrong_state: () => wordsOfHosting({ code: 'wrong_state' }),
  rate_limited: () => wordsOfHosting({ code: 'rate_limited' }),
  no_answer: () => wordsOfHosting({ code: 'no_answer' }),
  unreadable_answer: () => wordsOfHosting({ code: 'unreadable_answer' }),
  unknown_code: () => wordsOfHosting({ code: 'unknown_code' }),
  not_sent: () => 'The hosting API couldn’t be reached.',
  defect: () => 'Something went wrong before the order was sent. Your admin can find it in the log.',
};

/** How much is missing isn't known: the API doesn't report the balance. */
function balanceWords({ price, currency, accountUrl }: Refused): string {
  const needed =
    price === undefined
      ? ' for one more month.'
      : `: you need at least ${escapeText(describeMoney(price, currency))}.`;
  return `The hosting account’s balance is too low${needed} ${topUpWords(accountUrl)}, then try again.`;
}

/** "the hosting account’s page", as a link if its address is known. */
export function accountPage(accountUrl: string | undefined): string {
  const page = 'hosting account’s page';
  return `the ${accountUrl === undefined ? page : `<${escapeText(accountUrl)}|${page}>`}`;
}

/** "Top up the account", as a link if its page is known. */
function topUpWords(accountUrl: string | undefined): string {
  return accountUrl === undefined
    ? 'Top up on the hosting account’s page'
    : `<${escapeText(accountUrl)}|Top up the hosting account>`;
}

/** Why it is not known whether an order was carried out, as the middle of a sentence. */
function unconfirmedWords(reason: UnconfirmedReason): string {
  return describeReason(UNCONFIRMED, reason);
}

const UNCONFIRMED: ReasonWords<UnconfirmedDetails> = {
  checking: () => 'the hosting company hasn’t confirmed the order yet',
  no_answer: () => 'the hosting API didn’t answer',
  unreadable_answer: () => 'the hosting API’s answer couldn’t be read',
  unknown_code: () => 'the hosting API returned an unknown error',
  defect: () => 'something went wrong while the order was being sent',
  account_changed: () => 'the hosting account was reconnected before the answer arrived',
  contradiction: () => 'what the hosting API shows doesn’t match the order',
  not_found_yet: () => 'the order hasn’t appeared in the hosting account',
  no_api_key: () => 'no hosting account is connected, so we can’t check',
  key_rejected: () => 'the hosting API rejects the API key, so we can’t check',
  restored: () => 'the app’s database was restored from a backup that doesn’t include the result',
};
