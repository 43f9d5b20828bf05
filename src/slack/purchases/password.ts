import { erasePassword } from '../../app/purchases/erase-password.ts';
import type { HeldPassword } from '../../app/purchases/ports.ts';
import { showPassword } from '../../app/purchases/show-password.ts';
import type { ServerRef } from '../../app/servers/find-server.ts';
import { type Message, textMessage } from '../kit/blocks.ts';
import { defineCommand, parseServerName } from '../kit/command.ts';
import { codeLabel } from '../kit/text.ts';
import { offerServers, pickChoice } from '../servers/pick-server.ts';
import type { SlackRequest } from '../transport/request.ts';
import { passwordButton, savedButton } from './buttons.ts';
import { passwordBlocks } from './outcome-message.ts';

export const password = defineCommand({
  name: 'password',
  usage: 'password <server>',
  summary: 'Shows you the root password of a server that you created, until you have saved it',
  needs: 'anyone',
  parse: parseServerName,
  run: (ref, request) => offer(ref, request),
  actions: [
    passwordButton.on((ref, request) => offer(ref, request)),
    pickChoice.password.on((id, request) => reveal({ id: Number(id) }, request)),
    savedButton.on(async ({ operationId }, request) => {
      await request.execute(erasePassword, { operationId });
      await request.reply.delete();
    }),
  ],
});

function offer(ref: ServerRef, request: SlackRequest): Promise<void> {
  return offerServers('password', request, () => reveal(ref, request));
}

async function reveal(ref: ServerRef, request: SlackRequest): Promise<void> {
  const held = await request.execute(showPassword, ref);
  await request.reply.send(passwordMessage(held));
}

/** A held root password, for its creator's eyes alone; nothing of it is in the text. */
export function passwordMessage(held: HeldPassword): Message {
  return textMessage(codeLabel(held.label), ...passwordBlocks(held));
}
