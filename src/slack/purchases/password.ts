import { erasePassword } from '../../app/purchases/erase-password.ts';
import { showPassword } from '../../app/purchases/show-password.ts';
import type { ServerRef } from '../../app/servers/find-server.ts';
import { defineCommand, parseServerName } from '../kit/command.ts';
import { offerServers, pickChoice } from '../servers/pick-server.ts';
import type { SlackRequest } from '../transport/request.ts';
import { passwordButton, savedButton } from './buttons.ts';
import { erasedMessage, passwordMessage } from './password-blocks.ts';

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
      const { label, ipv4 } = await request.execute(erasePassword, { operationId });
      await request.reply.replace(erasedMessage(label, ipv4));
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
