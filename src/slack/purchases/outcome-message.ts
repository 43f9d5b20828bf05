import type { Button } from '@slack/types';
import type { HeldPassword } from '../../app/purchases/ports.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import { isProven } from '../../domain/outcome.ts';
import { actions, type Message, textMessage } from '../kit/blocks.ts';
import { codeLabel, mention, slackDate } from '../kit/text.ts';
import { showButton } from '../servers/buttons.ts';
import { createReviewButton, decideButton, passwordButton, renewButton } from './buttons.ts';
import { toKeys } from './choice-options.ts';
import { outcomeWords } from './outcome-words.ts';
import { againWords, passwordParts } from './password-blocks.ts';
import type { Wording } from './reason-words.ts';

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
  if (needsDecision) return [decideButton.element('Decide…', { operationId: id })];
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
