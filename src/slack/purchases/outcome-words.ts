import { describeMonthly } from '../../domain/money.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import { isProven, type UnconfirmedReason } from '../../domain/outcome.ts';
import { codeLabel, codeTyped, escapeText, mention, slackDate } from '../kit/text.ts';
import { wordsOfRefusal } from '../words.ts';
import { refusalWords, unconfirmedWords, type Wording } from './reason-words.ts';

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
        ? decisionWords(operation.reason, label, isCreate)
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
export function unsavedWords(operation: Operation): string {
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
  const cost = price === undefined ? '' : `, ${escapeText(describeMonthly(price, currency))}`;
  const facts = `(ID ${serverId}${cost})`;
  if (!operation.hasPassword)
    return `${label} was created ${facts}, but its root password didn’t reach us, and the API can’t show it again. You were charged once. Ask the hosting company whether they can reset the password. Otherwise, delete ${label} and create a new server: the paid month isn’t refunded, and the new server costs another one.`;
  const show = `\`/vps show ${serverId}\``;
  if (reported?.toLowerCase() === 'creating')
    return `${label} is being created ${facts}. You may have to wait before you can log in: ${show} shows its state and IP address.`;
  const state = reported ? ` The hosting API reports its state as ${codeTyped(reported)}.` : '';
  return `${label} was created ${facts}.${state} ${show} shows its state and IP address.`;
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

function decisionWords(reason: UnconfirmedReason, label: string, isCreate: boolean): string {
  const doubt = `We can’t tell whether ${label} was ${isCreate ? 'created' : 'renewed'}`;
  const [cause, step] = decisionParts(reason, label, isCreate);
  return `${doubt}: ${cause}. ${step} ${NO_SECOND_CHARGE}`;
}

/** The cause, and what a manager does next. */
function decisionParts(reason: UnconfirmedReason, label: string, isCreate: boolean): [string, string] {
  const why = unconfirmedWords(reason);
  switch (reason.code) {
    case 'account_changed':
      return [why, 'Check the page of the account that was connected before, then press *Decide…*.'];
    case 'no_api_key':
    case 'key_rejected':
      return [why, 'Reconnect with `/vps connect`, or check the hosting account’s page and press *Decide…*.'];
    case 'restored':
      return [
        why,
        `Check on the hosting account’s page whether ${label} was ${isCreate ? 'created' : 'renewed'}, then press *Decide…*.`,
      ];
    case 'not_found_yet':
      return [
        isCreate
          ? `${label} hasn’t appeared in the hosting account`
          : `the paid-until date of ${label} hasn’t changed`,
        'We can’t rule out a charge: check the hosting account’s page, then press *Decide…*.',
      ];
    default:
      return isCreate
        ? [
            'some new servers match only partly',
            'Compare the hosting account’s page with `/vps list`, then press *Decide…*.',
          ]
        : [
            `the paid-until date of ${label} doesn’t match the order`,
            'Check the hosting account’s page, then press *Decide…*.',
          ];
  }
}
