import { describeMoney } from '../../domain/money.ts';
import { labelOf, type Operation } from '../../domain/operation.ts';
import type { Server } from '../../domain/server.ts';
import { actions, context, type Message, textMessage } from '../kit/blocks.ts';
import { codeLabel, codeTyped, escapeText, mention } from '../kit/text.ts';
import { showButton } from '../servers/buttons.ts';
import { topUpWords, type Wording } from './reason-words.ts';

/** The address of a new server, when the API lists it; the root password is in a message of its own. */
export function addressMessage({ id, label, state, ipv4 }: Server): Message {
  const address = ipv4 ?? '';
  const words = `${codeLabel(label)} has the IP address ${codeTyped(address)}. The hosting API reports its state as ${codeTyped(state || 'unknown')}.`;
  const ssh = /^[\d.]+$/.test(address) ? [context(`Log in with \`ssh root@${address}\``)] : [];
  return textMessage(words, ...ssh, actions(showButton.element('Show server', { id })));
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
