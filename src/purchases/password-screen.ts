import type { Button, KnownBlock } from '@slack/types';
import { HOUR_MS, MINUTE_MS } from '../core/time.ts';
import type { ServerRef } from '../servers/find.ts';
import { chooseMessage, offerMatches, pickChoice } from '../servers/pick.ts';
import {
  actions,
  confirmation,
  context,
  LIMITS,
  type Message,
  preformatted,
  section,
  textMessage,
} from '../slack/kit/blocks.ts';
import { defineCommand, parseServerName } from '../slack/kit/command.ts';
import { codeLabel, count, plainLabel, slackDate, splitText } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { passwordButton, savedButton } from './buttons.ts';
import { erasePassword, listPasswords, showPassword } from './passwords.ts';
import type { HeldPassword } from './ports.ts';

export const password = defineCommand({
  name: 'password',
  usage: 'password [server]',
  summary: 'Show the root password of a server you created',
  needs: 'anyone',
  parse: parseServerName,
  run: (ref, request) => {
    // A message of the app stays in the conversation: the press of a button brings a way to show it ephemerally.
    if (request.caller.surface === 'direct_message') return offerPress(ref, request);
    return offer(ref, request);
  },
  actions: [
    passwordButton.on((ref, request) => offer(ref, request)),
    pickChoice.password.on((id, request) => reveal({ id: Number(id) }, request)),
    savedButton.on(async ({ operationId }, request) => {
      const { label, ipv4 } = await request.execute(erasePassword, { operationId });
      await request.reply.replace(erasedMessage(label, ipv4));
    }),
  ],
});

async function offerPress(ref: { readonly typed: string }, request: SlackRequest): Promise<void> {
  const words =
    'Root passwords are only shown in messages that only you can see. Press the button, or type `/vps password`.';
  await request.reply.send(textMessage(words, actions(passwordButton.element('Show password', ref))));
}

async function offer(ref: { readonly typed: string }, request: SlackRequest): Promise<void> {
  if (ref.typed !== '') return offerMatches('password', request, () => reveal(ref, request));
  const mine = await request.execute(listPasswords, {});
  const [only] = mine;
  if (!only) await request.reply.send(textMessage('You have no unsaved root passwords.'));
  else if (mine.length === 1) await reveal({ id: only.id }, request);
  else await request.reply.send(chooseMessage('password', mine));
}

async function reveal(ref: ServerRef, request: SlackRequest): Promise<void> {
  const show = (held: HeldPassword, holdMs: number) => sendAll(passwordMessages(held, holdMs), request.reply);
  await request.execute(showPassword, { ref, show });
}

/** Slack refuses messages above about 12,000 characters, and doesn't document whether it counts them escaped or in bytes. */
const BLOCKS_IN_MESSAGE = 2;

/**
 * The password itself, in blocks in which nothing is read as formatting, with the button that erases it. Returns the blocks of
 * each message: an answer in which no password was recognized may need three.
 */
export function passwordParts(held: HeldPassword, words: string, ...more: Button[]): KnownBlock[][] {
  const { operationId, label } = held;
  const texts = splitText(held.password.reveal(), LIMITS.preformatted);
  const parts = Math.ceil(texts.length / BLOCKS_IN_MESSAGE);
  return Array.from({ length: parts }, (_, at) => {
    const part = parts === 1 ? '' : `, part ${at + 1} of ${parts}`;
    const shown = texts.slice(at * BLOCKS_IN_MESSAGE, (at + 1) * BLOCKS_IN_MESSAGE);
    const head = section(`*Root password of* ${codeLabel(label)}${part} (only you can see this):`);
    if (at < parts - 1) return [head, ...shown.map(preformatted)];
    const saved = { style: 'primary', confirm: confirmSaved(label) } as const;
    return [
      head,
      ...shown.map(preformatted),
      context(`Save it in your password manager now. ${words}`),
      actions(savedButton.element("I've saved it", { operationId }, saved), ...more),
    ];
  });
}

/** How to see it again. Mentions no time limit, since none starts until its creator asks for it. */
export function againWords({ serverId }: HeldPassword): string {
  return `\`/vps password ${serverId}\` shows it again.`;
}

function confirmSaved(label: string) {
  return confirmation({
    title: 'Have you saved it?',
    text: `This erases our only copy of ${plainLabel(label, 60)}’s root password. The hosting API can’t show it again.`,
    confirm: 'Erase',
    isDangerous: true,
  });
}

/**
 * A held root password for its creator, who has asked for it; the messages' texts contain nothing of it. `holdMs`: how long
 * it is held once Slack has accepted these messages, if no time limit runs yet.
 */
export function passwordMessages(held: HeldPassword, holdMs: number): Message[] {
  const { serverId, label, heldUntil } = held;
  const least =
    holdMs < 2 * HOUR_MS
      ? count(Math.floor(holdMs / MINUTE_MS), 'minute')
      : count(Math.floor(holdMs / HOUR_MS), 'hour');
  const time = heldUntil === undefined ? `for at least ${least}` : `until ${slackDate(heldUntil)}`;
  const words = `\`/vps password ${serverId}\` shows it again ${time}, unless you press *I’ve saved it*.`;
  const text = `Root password of ${codeLabel(label)}`;
  return passwordParts(held, words).map((blocks) => ({ text, blocks }));
}

/** Sends messages in order, and stops at the first that Slack doesn't accept. True if Slack accepted them all. */
export async function sendAll(
  messages: readonly Message[],
  reply: { send(message: Message): Promise<boolean> },
): Promise<boolean> {
  for (const message of messages) if (!(await reply.send(message))) return false;
  return true;
}

/** Replaces the password once it is saved. */
export function erasedMessage(label: string, ipv4: string | undefined): Message {
  const parts = [codeLabel(label), ...(ipv4 === undefined ? [] : [`\`${ipv4}\``]), 'password erased'];
  return textMessage(parts.join(' · '));
}
