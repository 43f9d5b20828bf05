import type { Button, KnownBlock } from '@slack/types';
import type { HeldPassword } from '../../app/purchases/ports.ts';
import {
  actions,
  confirmation,
  context,
  type Message,
  preformatted,
  section,
  textMessage,
} from '../kit/blocks.ts';
import { codeLabel, plainLabel } from '../kit/text.ts';
import { savedButton } from './buttons.ts';

/** The password itself, in a block in which nothing is read as formatting, with the button that erases it. */
export function passwordBlocks(held: HeldPassword, ...more: Button[]): KnownBlock[] {
  const { operationId, serverId, label } = held;
  return [
    section(`*Root password of* ${codeLabel(label)} (only you can see this):`),
    preformatted(held.password.reveal()),
    context(
      `Save it in your password manager now. You can see it again with \`/vps password ${serverId}\` until you press *I've saved it*.`,
    ),
    actions(
      savedButton.element(
        "I've saved it",
        { operationId },
        { style: 'primary', confirm: confirmSaved(label) },
      ),
      ...more,
    ),
  ];
}

function confirmSaved(label: string) {
  return confirmation({
    title: 'Erase the root password?',
    text: `The root password of ${plainLabel(label, 60)} will be erased here. The hosting API can’t show it again.`,
    confirm: 'Erase',
    isDangerous: true,
  });
}

/** A held root password, for its creator's eyes alone; nothing of it is in the text. */
export function passwordMessage(held: HeldPassword): Message {
  return { text: `Root password of ${codeLabel(held.label)}`, blocks: passwordBlocks(held) };
}

/** Replaces the password once it is saved. */
export function erasedMessage(label: string, ipv4: string | undefined): Message {
  const parts = [codeLabel(label), ...(ipv4 === undefined ? [] : [`\`${ipv4}\``]), 'password erased'];
  return textMessage(parts.join(' · '));
}
