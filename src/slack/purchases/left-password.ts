import type { Button, KnownBlock } from '@slack/types';
import type { Refusal } from '../../domain/errors.ts';
import type { Absence, LeftPassword } from '../../domain/left-password.ts';
import { confirmation, type Message, section, textMessage } from '../kit/blocks.ts';
import { codeLabel, mention, plainLabel } from '../kit/text.ts';
import { discardButton, passwordButton } from './buttons.ts';

/** After the name of the creator. */
const ABSENCE: Readonly<Record<Absence, string>> = {
  creator_deactivated: 'is deactivated in Slack',
  creator_not_member: 'isn’t a member of this workspace',
  creator_without_role: 'has no role for it',
};

/** Says to an owner whose root password it is, and what can be done about it. */
export function leftWords({ label, creatorId, absence }: LeftPassword): string {
  // A user without a role can still ask for the root passwords of servers that they created.
  const still = absence === 'creator_without_role' ? ' but can still see the password' : '';
  return `The root password of ${codeLabel(label)} is still stored. ${mention(creatorId)}, who created the server, ${ABSENCE[absence]}${still}. You can’t see the password, but you can erase it.`;
}

/** The button that erases it, for an owner who was told so. */
export function leftPasswordSteps({ details: { left } }: Refusal<'not_creator'>): Button[] {
  if (!left) return [];
  const { operationId, label } = left;
  const confirm = confirmation({
    title: 'Erase the root password?',
    text: `The root password of ${plainLabel(label, 60)} will be erased and can’t be recovered. The hosting API can’t show it again.`,
    confirm: 'Erase',
    isDangerous: true,
  });
  return [discardButton.element('Erase root password', { operationId }, { style: 'danger', confirm })];
}

/** Replaces that message once the password is erased. */
export function discardedMessage(label: string): Message {
  return textMessage(`The root password of ${codeLabel(label)} was erased. It can’t be recovered.`);
}

const LISTED_MOST = 5;

/** Those that an owner can erase, each with the button that asks about it afresh. */
export function leftPasswordBlocks(left: readonly LeftPassword[]): KnownBlock[] {
  if (left.length === 0) return [];
  const shown = left.slice(0, LISTED_MOST);
  const rest = left.length > shown.length ? `, the newest ${shown.length} of ${left.length}` : '';
  return [
    section(`*Root passwords that you can erase*${rest}`),
    ...shown.map(({ serverId, label, creatorId, absence }) =>
      section(
        `${codeLabel(label)}, created by ${mention(creatorId)}, who ${ABSENCE[absence]}`,
        passwordButton.element(
          'Erase…',
          { typed: String(serverId) },
          { label: `Erase the root password of ${plainLabel(label, 40)}` },
        ),
      ),
    ),
  ];
}
