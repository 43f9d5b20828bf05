import type { KnownBlock } from '@slack/types';
import type { HeldPassword } from '../../app/purchases/ports.ts';
import { describeMoney } from '../../domain/money.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import type { UnconfirmedReason } from '../../domain/outcome.ts';
import { actions, context, type Message, preformatted, section, textMessage } from '../kit/blocks.ts';
import { codeLabel, mention, slackDate } from '../kit/text.ts';
import { showButton } from '../servers/buttons.ts';
import { createReviewButton, decideButton, passwordButton, renewButton, savedButton } from './buttons.ts';
import { refusalWords, unconfirmedWords } from './reason-words.ts';

/** How an operation stands, for the user who confirmed it. The password, if there is one, is in a block of its own. */
export function outcomeMessage(
  operation: Operation,
  held: HeldPassword | undefined,
  currency: string,
): Message {
  const words = outcomeWords(operation, currency);
  if (held) return textMessage(words, ...passwordBlocks(held));
  return textMessage(words, ...outcomeActions(operation));
}

/** The same in words alone: for a modal, and for the notification. No secret is ever in it. */
export function outcomeWords(operation: Operation, currency: string): string {
  const label = codeLabel(labelOf(operation.purchase));
  const isCreate = operation.purchase.kind === 'create';
  const done = isCreate ? 'created' : 'renewed';
  switch (operation.state) {
    case 'prepared':
    case 'sent':
      return isCreate ? `${label} is being created…` : `${label} is being renewed…`;
    case 'settled':
      return isCreate ? createdWords(operation, label, currency) : renewedWords(operation, label);
    case 'refused':
      return `${label} was not ${done}. ${refusalWords(operation.reason, currency)}`;
    case 'unconfirmed':
      return operation.needsDecision
        ? decisionWords(operation.reason, label, isCreate)
        : lookingWords(operation.reason, label, done);
  }
}

function createdWords(operation: Operation, label: string, currency: string): string {
  const price = operation.price === undefined ? '' : `, ${describeMoney(operation.price, currency)} a month`;
  if (operation.serverId === undefined)
    return `${label} was created in the hosting account that was connected before${price}. You were charged once.`;
  const created = `${label} was created (id ${operation.serverId}${price}).`;
  if (operation.hasPassword) return created;
  return `${created} Its root password never reached us: the answer that held it was lost, and the hosting API shows it only once. Nobody here has it. You were charged once.`;
}

function renewedWords(operation: Operation, label: string): string {
  const until =
    operation.paidUntil === undefined ? '' : ` It is paid until ${slackDate(operation.paidUntil)}.`;
  return `${label} was renewed.${until}`;
}

function lookingWords(reason: UnconfirmedReason, label: string, done: string): string {
  return `We don’t know yet whether ${label} was ${done}. ${unconfirmedWords(reason)} You will not be charged twice: nothing is sent again. We are looking for it and will tell you here.`;
}

function decisionWords({ code }: UnconfirmedReason, label: string, isCreate: boolean): string {
  if (code === 'account_changed')
    return `We can’t tell whether ${label} was ${isCreate ? 'created' : 'renewed'}: the answer did not arrive, and the hosting account was connected anew since. Please look at the page of the account that was connected before. Nothing was sent twice.`;
  return isCreate
    ? `We can’t tell whether ${label} was created: there are new servers that fit it only in part. Please compare the account page with \`/vps list\`. Nothing was sent twice.`
    : `We can’t tell whether ${label} was renewed: its paid time does not fit what was there before. Please look at the account page. Nothing was sent twice.`;
}

/** The password itself, in a block in which nothing is read as formatting, with the button that erases it. */
export function passwordBlocks(held: HeldPassword): KnownBlock[] {
  return [
    section('*Root password*, shown to nobody but you:'),
    preformatted(held.password.reveal()),
    context(
      `Put it into your password store now: the hosting API never shows it again. Until you press the button, or its time is over, \`/vps password\` shows it to you once more. This message goes away when Slack reloads.`,
    ),
    actions(savedButton.element('I saved it', { operationId: held.operationId }, { style: 'primary' })),
  ];
}

function outcomeActions(operation: Operation): KnownBlock[] {
  const { purchase } = operation;
  if (operation.state === 'settled' && operation.serverId !== undefined) {
    const password = operation.hasPassword
      ? [passwordButton.element('Show root password', { typed: String(operation.serverId) })]
      : [];
    return [actions(showButton.element('Manage server', { id: operation.serverId }), ...password)];
  }
  if (operation.needsDecision)
    return [actions(decideButton.element('Decide…', { operationId: operation.id }))];
  if (operation.state !== 'refused') return [];
  const again =
    purchase.kind === 'create'
      ? createReviewButton.element('Review again…', purchase.order)
      : renewButton.element('Review again…', { id: purchase.serverId });
  return [actions(again)];
}

/** What the channel is told. */
export function announcement(operation: Operation): Message {
  const label = codeLabel(labelOf(operation.purchase));
  const verb = operation.purchase.kind === 'create' ? 'created' : 'renewed';
  return textMessage(`${mention(operation.actorId)} ${verb} ${label}`);
}
