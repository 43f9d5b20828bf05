import { erasePassword } from '../../app/purchases/erase-password.ts';
import { listPasswords } from '../../app/purchases/list-passwords.ts';
import type { HeldPassword } from '../../app/purchases/ports.ts';
import { showPassword } from '../../app/purchases/show-password.ts';
import type { ServerRef } from '../../app/servers/find-server.ts';
import { actions, textMessage } from '../kit/blocks.ts';
import { defineCommand, parseServerName } from '../kit/command.ts';
import { chooseMessage, offerMatches, pickChoice } from '../servers/pick-server.ts';
import type { SlackRequest } from '../transport/request.ts';
import { passwordButton, savedButton } from './buttons.ts';
import { erasedMessage, passwordMessages, sendAll } from './password-blocks.ts';

export const password = defineCommand({
  name: 'password',
  usage: 'password [server]',
  summary: 'Show the root password of a server that you created, until you’ve saved it',
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
