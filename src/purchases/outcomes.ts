import type { Button } from '@slack/types';
import { z } from 'zod';
import type { Reason, ReasonWords } from '../core/errors.ts';
import type { UserId } from '../core/ids.ts';
import { describeMoney, describeMonthly } from '../core/money.ts';
import { showButton } from '../servers/buttons.ts';
import { actions, type Message, textMessage } from '../slack/kit/blocks.ts';
import { defineButton } from '../slack/kit/button.ts';
import { noticeView } from '../slack/kit/form.ts';
import { capital, codeLabel, escapeText, mention, slackDate } from '../slack/kit/text.ts';
import { type NotifierParts, notifySafely } from '../slack/outbox.ts';
import { confirmerOf } from '../slack/reply.ts';
import {
  budgetWords,
  frozenWords,
  type StoredReason,
  VERBS,
  wordsOfReason,
  wordsOfRefusal,
} from '../words.ts';
import { createReviewButton, renewButton } from './catalog.ts';
import {
  isOnlyDecided,
  isProven,
  labelOf,
  type Operation,
  type OperationRefusal,
  type ProvenRefusalDetails,
  type Purchase,
  type UnconfirmedReason,
} from './operation.ts';
import type { HeldPassword } from './password-store.ts';
import { againWords, passwordButton, passwordCommand, passwordParts, sendAll } from './passwords.ts';

export const decideButton = defineButton('decide', z.object({ operationId: z.string() }));

export type OperationNotifier = ReturnType<typeof createOperationNotifier>;

/** Ephemerally where the form was opened, else by a direct message without the password. No method throws. */
export function createOperationNotifier(parts: NotifierParts) {
  const { log, outbox, currency, accountUrl } = parts;
  const wording: Wording = { accountUrl, currency };
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
    notifyQueued: (operation: Operation): Promise<void> =>
      notifyBriefly(operation, ORDERS[operation.purchase.kind].title, queuedWords(operation), parts),
    notifyUnsaved: (operation: Operation): Promise<void> =>
      notifyBriefly(
        operation,
        ORDERS[operation.purchase.kind].title,
        `${codeLabel(labelOf(operation.purchase))}: ${wordsOfRefusal('order_unsaved', {}, '')}`,
        parts,
      ),
    notifyLowBalance: (operation: Operation, owners: readonly UserId[]): Promise<void> =>
      notifySafely(operation.id, log, undefined, async () => {
        const message = lowBalanceMessage(operation, wording);
        await Promise.all(owners.map((id) => outbox.sendDirectly(operation.workspaceId, id, message)));
      }),
  };
}

/**
 * Notifies the user who confirmed an order or a delete while its outcome is open, in the form with this title and by a message; by a
 * path that needs no store, if the stored one fails. Never throws.
 */
export function notifyBriefly(
  operation: Parameters<typeof confirmerOf>[0],
  title: string,
  words: string,
  { outbox, log }: NotifierParts,
): Promise<void> {
  const confirmer = confirmerOf(operation);
  const message = textMessage(words);
  return notifySafely(operation.id, log, undefined, async () => {
    await outbox.updateFollowed(confirmer, () => noticeView(title, words), { isFinal: false });
    const isShown = await outbox
      .replyTo(confirmer)
      .send(message)
      .catch(() => false);
    if (!isShown) await outbox.sendDirectly(operation.workspaceId, operation.actorId, message);
  });
}

const ORDERS = {
  create: { title: 'Create a server', settled: 'Server ordered', noun: 'order for' },
  renew: { title: 'Renew a server', settled: 'Server renewed', noun: 'renewal of' },
} as const;

export function outcomeTitle(operation: Operation): string {
  const { state, purchase, reason, isLate } = operation;
  const { title, settled } = ORDERS[purchase.kind];
  if (state === 'unconfirmed') return 'Not confirmed yet';
  if (state === 'refused')
    return isProven(reason) ? `Server not ${VERBS[purchase.kind].past}` : 'Order closed';
  return state === 'settled' && !isLate && !isOnlyDecided(operation) ? settled : title;
}

/** The details appear once: in the message if Slack took one, which doesn't prove that it was shown; otherwise here. */
export function outcomeView(
  operation: Operation,
  { isShown, isNotified }: { readonly isShown: boolean; readonly isNotified: boolean },
  wording: Wording,
) {
  const isHeld = operation.state === 'settled' && operation.hasPassword;
  const what = isHeld && isShown ? 'the root password' : 'the details';
  const where = isShown ? 'in a message that only you can see' : 'in a direct message';
  const words = isNotified ? `We sent you ${what} ${where}.` : outcomeWords(operation, wording);
  const command = passwordCommand(operation.serverId, labelOf(operation.purchase));
  const again = isShown
    ? `If you don’t see it, ${command} shows it again.`
    : `${command} shows the root password.`;
  return noticeView(outcomeTitle(operation), words, ...(isHeld ? [again] : []));
}

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
  if (purchase.kind === 'create') return [createReviewButton.element('Try again', purchase.order)];
  const id = purchase.serverId;
  if (reason?.code === 'unknown_server' || reason?.code === 'not_found') return [];
  if (reason?.code === 'already_renewed') return [showButton.element('Show server', { id })];
  return [renewButton.element('Try again', { id })];
}

/** The channel's message, which is edited as the order proceeds. Only its user sees why it failed. */
export function announcement(operation: Operation): Message {
  const { state, actorId, purchase, paidUntil, reason } = operation;
  const { past, present } = VERBS[purchase.kind];
  const isCreate = purchase.kind === 'create';
  const user = mention(actorId);
  const label = codeLabel(labelOf(purchase));
  switch (state) {
    case 'prepared':
    case 'sent':
      return textMessage(`${user} is ${present} ${label}…`);
    case 'settled':
      if (isOnlyDecided(operation))
        return textMessage(
          `${mention(operation.decidedBy ?? '')} marked ${user}’s ${ORDERS[purchase.kind].noun} ${label} as done`,
        );
      return textMessage(`${user} ${past} ${label}${isCreate ? '' : untilWords(' until', paidUntil)}`);
    case 'unconfirmed':
      return textMessage(
        `${user} ${isCreate ? 'ordered' : 'is renewing'} ${label}. The order isn’t confirmed yet; we’re checking.`,
      );
    case 'refused': {
      const end = isProven(reason) ? 'didn’t go through' : 'was closed without confirmation';
      return textMessage(`${user}’s ${ORDERS[purchase.kind].noun} ${label} ${end}.`);
    }
  }
}

function untilWords(before: string, paidUntil: number | undefined): string {
  return paidUntil === undefined ? '' : `${before} ${slackDate(paidUntil)}`;
}

/** No secret is ever in these words. `reported`: the new server's state, as the API just said. */
export function outcomeWords(operation: Operation, wording: Wording, reported?: string): string {
  const { purchase, price, paidUntil } = operation;
  const label = codeLabel(labelOf(purchase));
  const { past } = VERBS[purchase.kind];
  switch (operation.state) {
    case 'prepared':
    case 'sent':
      return progressWords(operation);
    case 'settled':
      if (operation.isLate) return lateWords(operation, label);
      if (isOnlyDecided(operation)) return decidedWords(operation, label, wording);
      if (purchase.kind === 'create') return createdWords(operation, label, wording, reported);
      return `${label} was renewed for a month${untilWords(' and is now paid until', paidUntil)}.`;
    case 'refused':
      return `${label} wasn’t ${past}${refusalWords(operation.reason, { ...wording, price })}`;
    case 'unconfirmed':
      return operation.needsDecision
        ? `We can’t tell whether ${label} was ${past}: ${decisionWords(operation.reason, purchase, wording)}`
        : `We’re not sure yet whether ${label} was ${past}: ${UNCONFIRMED[operation.reason.code]}. We won’t retry, so you can’t be charged twice. We’re checking and will post the result here.`;
  }
}

export function progressWords({ purchase }: Operation): string {
  return `${capital(VERBS[purchase.kind].present)} ${codeLabel(labelOf(purchase))}…`;
}

export function queuedWords({ purchase }: Operation): string {
  return `Your ${ORDERS[purchase.kind].noun} ${codeLabel(labelOf(purchase))} hasn’t been sent yet: this is taking longer than usual. We’ll post the result here. Don’t order it again.`;
}

function createdWords(
  operation: Operation,
  label: string,
  { currency }: Wording,
  reported: string | undefined,
): string {
  const { serverId, price } = operation;
  const cost = price === undefined ? [] : [escapeText(describeMonthly(price, currency))];
  const facts = `(${[`ID ${serverId}`, ...cost].join(', ')})`;
  if (!operation.hasPassword)
    return `${label} was created ${facts}, but its root password hasn’t reached us, and the API can’t show it again. You were charged once. If the answer to the order still arrives, you’ll get the password. Otherwise, ask the hosting company whether they can reset it, or delete ${label} and create a new server: the paid month isn’t refunded, and the new server costs another one.`;
  const show = `\`/vps show ${serverId}\``;
  if (reported?.toLowerCase() === 'creating')
    return `${label} is being created${cost.length > 0 ? ` (${cost.join()})` : ''}. ${show} shows its address once it has one.`;
  const state = reported ? ` The hosting API reports its state as ${codeLabel(reported)}.` : '';
  return `${label} was created ${facts}.${state} ${show} shows its state and address.`;
}

function decidedWords(
  { purchase, serverId, decidedBy = '', hasPassword }: Operation,
  label: string,
  { accountUrl }: Wording,
): string {
  const by = `${mention(decidedBy)} marked`;
  if (purchase.kind === 'renew')
    return `${by} ${label} as renewed. We haven’t seen a new paid-until date, so check the hosting account.`;
  const server = serverId === undefined ? ', but we can’t see the server' : ` (server ${serverId})`;
  const password = hasPassword
    ? ''
    : ' If the answer to the order still arrives, you’ll get the root password.';
  return `${by} your order for ${label} as done${server}. Check the charge on ${accountPage(accountUrl)}.${password}`;
}

/** What was said before was wrong, or what is there now was made in another way: only what is seen is said. */
function lateWords({ serverId, paidUntil, decidedBy, purchase }: Operation, label: string): string {
  const seen =
    purchase.kind === 'create'
      ? `${label} has appeared in the hosting account (ID ${serverId})`
      : `${label} is now paid until ${paidUntil === undefined ? 'a later date' : slackDate(paidUntil)}`;
  const before = decidedBy === undefined ? 'We told you earlier' : `${mention(decidedBy)} had decided`;
  return `${seen}. ${before} that ${label} wasn’t ${VERBS[purchase.kind].past}. Check the hosting account for the charge.`;
}

function decisionWords({ code }: UnconfirmedReason, { kind }: Purchase, { accountUrl }: Wording): string {
  const isUnmoved = code === 'not_found_yet' && kind === 'renew';
  const why = isUnmoved ? 'its paid-until date hasn’t changed' : UNCONFIRMED[code];
  const looks = UNCHECKED.includes(code) ? '' : ', and we’ll keep checking';
  return `${why}. ${stepOf(code, kind, accountPage(accountUrl))}, then press *Resolve…*. We won’t retry, so you can’t be charged twice${looks}.`;
}

/** As long as these last, the account can’t be looked at. */
const UNCHECKED: readonly UnconfirmedReason['code'][] = ['account_changed', 'no_api_key', 'key_rejected'];

function stepOf(code: UnconfirmedReason['code'], kind: Purchase['kind'], page: string): string {
  switch (code) {
    case 'account_changed':
      return 'Check the page of the account that was connected before';
    case 'no_api_key':
    case 'key_rejected':
      return `Reconnect with \`/vps connect\` so that we can check. Or check ${page}`;
    case 'not_found_yet':
      return `We can’t rule out a charge: check ${page}`;
    case 'contradiction':
      return kind === 'create' ? `Compare ${page} with \`/vps list\`` : `Check ${page}`;
    case 'restored':
      return `Check ${page}`;
    // What was known before the app began to look: a whole list would have replaced it.
    default:
      return `We couldn’t list all servers of the account, so check ${page}`;
  }
}

export function lowBalanceMessage({ actorId, purchase, price }: Operation, wording: Wording): Message {
  const act = `${purchase.kind} ${codeLabel(labelOf(purchase))}`;
  const needed =
    price === undefined ? '' : ` At least ${escapeText(describeMoney(price, wording.currency))} is needed.`;
  return textMessage(
    `${mention(actorId)} couldn’t ${act}: the hosting account’s balance is too low.${needed} Nothing was charged. ${topUpWords(wording.accountUrl)}, then order again.`,
  );
}

export interface Wording {
  /** The currency of prices; empty if the operator has not set one. */
  readonly currency: string;
  readonly accountUrl?: string | undefined;
}

interface Refused extends Wording {
  readonly price: Operation['price'];
}

/** ", and nothing was charged. …": says so only with proof, whatever the words of the reason are. */
function refusalWords(reason: OperationRefusal, refused: Refused): string {
  if (!isProven(reason))
    return '. A manager closed this order as not carried out. We can’t see charges; if we find that it went through after all, we’ll tell you.';
  // The hosting company returns the charge of a server that it can't create (docs/hosting-api.md 3).
  const money =
    reason.code === 'not_created' ? 'the month’s charge is back on the balance' : 'nothing was charged';
  return `, and ${money}. ${whyRefused(reason, refused)}`;
}

function whyRefused<Code extends keyof ProvenRefusalDetails>(
  reason: Reason<ProvenRefusalDetails, Code>,
  refused: Refused,
): string {
  const own = OWN_WORDS[reason.code];
  return own ? own(reason.details, refused) : wordsOfReason(reason as StoredReason, refused.currency);
}

/** Of an order, where the words that a reason has elsewhere would repeat that nothing was charged, or not fit. */
const OWN_WORDS: Partial<ReasonWords<ProvenRefusalDetails, [refused: Refused]>> = {
  identity_unknown: () => 'Slack couldn’t confirm your role. Try again in a minute.',
  approval_needed: () => 'This order now needs another manager’s approval. Try again to request it.',
  over_budget: (details, { currency }) =>
    `${budgetWords(details, currency)} An owner can change the budget with \`/vps settings\`.`,
  purchases_frozen: (details) => frozenWords(details),
  stale_confirmation: () => 'The order wasn’t sent in time. Try again.',
  not_enough_balance: (_, refused) => balanceWords(refused),
  not_created: () => 'The hosting company couldn’t create the server.',
  // As the answer to one of the reads before the order: the answer to the order itself would leave it unconfirmed.
  checking: () => 'The hosting API wasn’t ready to answer. Try again in a minute.',
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
const UNCONFIRMED: Readonly<Record<UnconfirmedReason['code'], string>> = {
  checking: 'the hosting company hasn’t confirmed the order yet',
  no_answer: 'the hosting API didn’t answer',
  unreadable_answer: 'the hosting API’s answer couldn’t be read',
  unknown_code: 'the hosting API returned an unknown error',
  defect: 'something went wrong while the order was being sent',
  account_changed: 'the hosting account was reconnected before the answer arrived',
  contradiction: 'what the hosting API shows doesn’t match the order',
  not_found_yet: 'the order hasn’t appeared in the hosting account',
  no_api_key: 'no hosting account is connected, so we can’t check',
  key_rejected: 'the hosting API rejects the API key, so we can’t check',
  restored: 'the app’s database was restored from a backup that doesn’t include the result',
};
