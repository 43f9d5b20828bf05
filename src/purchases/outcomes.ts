import type { Button } from '@slack/types';
import type { CurrencyOf } from '../account/workspaces.ts';
import type { UserId } from '../core/ids.ts';
import { describeMoney, describeMonthly } from '../core/money.ts';
import type { Log } from '../log.ts';
import { showButton } from '../servers/buttons.ts';
import { actions, type Message, textMessage } from '../slack/kit/blocks.ts';
import { noticeView } from '../slack/kit/form.ts';
import { notifySafely } from '../slack/kit/notify.ts';
import { codeLabel, codeTyped, escapeText, mention, slackDate } from '../slack/kit/text.ts';
import type { Outbox } from '../slack/outbox.ts';
import { wordsOfRefusal } from '../words.ts';
import { createReviewButton, decideButton, passwordButton, renewButton } from './buttons.ts';
import { toKeys } from './choices.ts';
import { isProven, labelOf, type Operation, type UnconfirmedReason } from './operation.ts';
import { againWords, passwordParts, sendAll } from './password-screen.ts';
import type { HeldPassword, OperationNotifier } from './ports.ts';
import { accountPage, refusalWords, topUpWords, unconfirmedWords, type Wording } from './words.ts';

interface Parts {
  readonly outbox: Outbox;
  readonly log: Log;
  readonly currencyOf: CurrencyOf;
  readonly accountUrl: string | undefined;
}

/** What the messages of one workspace are made and sent with. */
interface Sending extends Wording {
  readonly outbox: Outbox;
}

/** Notifies users of outcomes: ephemerally where the form was opened, else by a direct message without the password. */
export function createOperationNotifier(parts: Parts): OperationNotifier {
  const { log, outbox, accountUrl } = parts;
  const sendingFor = async ({ workspaceId }: Operation): Promise<Sending> => ({
    outbox,
    accountUrl,
    currency: await parts.currencyOf(workspaceId),
  });
  return {
    announceStart: (operation) => {
      const announcing = outbox.startAnnouncement(confirmerOf(operation), announcement(operation));
      void notifySafely(operation.id, log, undefined, () => announcing);
    },
    notify: (operation, held, reported) =>
      notifySafely(operation.id, log, { isNotified: false }, async () =>
        notify(operation, held, reported, await sendingFor(operation)),
      ),
    notifyQueued: (operation) => notifyBriefly(operation, queuedWords(operation), parts),
    notifyUnsaved: (operation) => notifyBriefly(operation, unsavedWords(operation), parts),
    notifyLowBalance: (operation, owners) =>
      notifySafely(operation.id, log, undefined, async () =>
        notifyLowBalance(operation, owners, await sendingFor(operation)),
      ),
  };
}

async function notify(
  operation: Operation,
  held: HeldPassword | undefined,
  reported: string | undefined,
  parts: Sending,
) {
  const { outbox } = parts;
  const confirmer = confirmerOf(operation);
  const messages = held
    ? deliveryMessages(operation, held, parts, reported)
    : [outcomeMessage(operation, parts, reported)];
  const isShown = await sendAll(messages, outbox.replyTo(confirmer));
  const isNotified = isShown || (await sendDirectly(operation, operation.actorId, parts));
  await outbox.updateFollowed(confirmer, () => outcomeView(operation, { isShown, isNotified }, parts), {
    isFinal: operation.state !== 'unconfirmed',
  });
  const { decidedBy } = operation;
  if (operation.isLate && isNotified && decidedBy !== undefined && decidedBy !== operation.actorId)
    await sendDirectly(operation, decidedBy, parts);
  if (isNotified && operation.state === 'settled') await outbox.announce(confirmer, announcement(operation));
  else if (isNotified) await outbox.updateAnnouncement(confirmer, announcement(operation));
  return { isNotified };
}

/** While the outcome is open; by a path that needs no store, if the stored one fails. */
function notifyBriefly(operation: Operation, words: string, { outbox, log }: Parts): Promise<void> {
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

async function notifyLowBalance(operation: Operation, owners: readonly UserId[], parts: Sending) {
  const message = lowBalanceMessage(operation, parts);
  await Promise.all(owners.map((id) => parts.outbox.sendDirectly(operation.workspaceId, id, message)));
}

function titleOf({ purchase }: Operation): string {
  return purchase.kind === 'create' ? 'Create a server' : 'Renew a server';
}

/** The title of a form that has become a notice: how the order stands. */
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

function confirmerOf({ id, workspaceId, actorId, channelId }: Operation) {
  return { confirmationId: id, workspaceId, userId: actorId, channelId };
}

/** The last resort says everything but the password, which `/vps password` shows. */
function sendDirectly(operation: Operation, userId: string, parts: Sending): Promise<boolean> {
  const message = outcomeMessage(operation, parts);
  return parts.outbox.sendDirectly(operation.workspaceId, userId, message);
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
      ? [`\`/vps password ${operation.serverId}\` shows the root password.`]
      : [];
  const words = isNotified
    ? 'We sent you the details in a direct message.'
    : outcomeWords(operation, wording);
  return noticeView(title, words, ...password);
}

/** How an order stands, for the user who confirmed it, with the root password in blocks of its own. */
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

/** How an order stands, without the root password. */
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

/** Opens the review afresh, with a confirmation of its own: nothing is ever sent again by itself. */
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

/** How an order stands, in words alone. No secret is ever in them. `reported` is the new server's state, as the API just said. */
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
      return isCreate ? createdWords(operation, label, wording, reported) : renewedWords(operation, label);
    case 'refused':
      return `${label} ${refusalWords(operation.reason, done, { ...wording, price: operation.price })}`;
    case 'unconfirmed':
      return operation.needsDecision
        ? decisionWords(operation.reason, label, isCreate, accountPage(wording.accountUrl))
        : `We’re not sure yet whether ${label} was ${done}: ${unconfirmedWords(operation.reason)}. We won’t retry, so you can’t be charged twice. We’re checking and will post the result here.`;
  }
}

/** "Creating `web-1`…" */
export function progressWords({ purchase }: Operation): string {
  return `${purchase.kind === 'create' ? 'Creating' : 'Renewing'} ${codeLabel(labelOf(purchase))}…`;
}

/** For an order that waits for others before it is sent. */
export function queuedWords(operation: Operation): string {
  const label = codeLabel(labelOf(operation.purchase));
  return `Your order for ${label} is queued: the hosting API is still busy with earlier requests. We’ll post the result here. Don’t order it again.`;
}

/** For an order that the store lost sight of before it was sent. */
function unsavedWords(operation: Operation): string {
  return `${codeLabel(labelOf(operation.purchase))}: ${wordsOfRefusal('order_unsaved', {}, '')}`;
}

/** What an open form says at the end, where Slack took a message with the details: that proves not that it was shown. */
export function pointerWords(operation: Operation): string {
  const { state, purchase, hasPassword, serverId } = operation;
  const what = `Your ${purchase.kind === 'create' ? 'order for' : 'renewal of'} ${codeLabel(labelOf(purchase))}`;
  const sent = (what: string) => `We sent you ${what} in a message that only you can see.`;
  switch (state) {
    case 'prepared':
    case 'sent':
      return progressWords(operation);
    case 'settled':
      return hasPassword
        ? `${what} went through. ${sent('the root password')} If you don’t see it, \`/vps password ${serverId}\` shows it again.`
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

function renewedWords({ paidUntil }: Operation, label: string): string {
  const until = paidUntil === undefined ? '' : ` and is now paid until ${slackDate(paidUntil)}`;
  return `${label} was renewed for a month${until}.`;
}

/** What was said before was wrong, or what is there now was made in another way: only what is seen is said. */
function lateWords(operation: Operation, label: string, isCreate: boolean): string {
  const { serverId, paidUntil, decidedBy } = operation;
  const seen = isCreate
    ? `${label} has appeared in the hosting account (ID ${serverId})`
    : `${label} is now paid until ${paidUntil === undefined ? 'a later date' : slackDate(paidUntil)}`;
  const before = decidedBy === undefined ? 'We had told you' : `${mention(decidedBy)} had decided`;
  return `${seen}. ${before} that ${label} wasn’t ${isCreate ? 'created' : 'renewed'}. Check the hosting account for the charge.`;
}

const NO_SECOND_CHARGE = 'We won’t retry, so you can’t be charged twice, and we keep checking.';

function decisionWords(reason: UnconfirmedReason, label: string, isCreate: boolean, page: string): string {
  const doubt = `We can’t tell whether ${label} was ${isCreate ? 'created' : 'renewed'}`;
  const [cause, step] = decisionParts(reason, label, isCreate, page);
  return `${doubt}: ${cause}. ${step} ${NO_SECOND_CHARGE}`;
}

/** The cause, and what a manager does next. */
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
        ? ['some new servers match only partly', `Compare ${page} with \`/vps list\`, then press *Resolve…*.`]
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
