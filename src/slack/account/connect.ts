import { disconnectKey } from '../../app/account/connect-key.ts';
import { makeConnectLink } from '../../app/account/connect-link.ts';
import { Refusal } from '../../domain/errors.ts';
import { textMessage } from '../kit/blocks.ts';
import { defineCommand } from '../kit/command.ts';
import type { SlackRequest } from '../transport/request.ts';
import { connectButton, disconnectButton, linkButton } from './buttons.ts';
import { disconnectedWords, disconnectMessage, linkMessage } from './connect-messages.ts';

export const connect = defineCommand({
  name: 'connect',
  usage: 'connect',
  summary: 'Connect the hosting account',
  needs: 'owner',
  parse: ({ words }) =>
    // Users who typed a key into the chat have to know that Slack has it now.
    words.length > 0
      ? 'Never paste an API key into Slack. If you just did, revoke it and create a new one.'
      : {},
  run: (_input, request) => sendLink(request),
  actions: [
    connectButton.on((_value, request) => sendLink(request)),
    // Slack opens the address itself; the press only needs an ack.
    linkButton.on(async () => {}),
  ],
});

async function sendLink(request: SlackRequest): Promise<void> {
  const { publicUrl, caller } = request;
  await request.authorize(makeConnectLink);
  if (publicUrl === undefined) throw new Refusal('no_public_url', { workspaceId: caller.actor.workspaceId });
  const { token, tokenHash } = await request.execute(makeConnectLink, {});
  // What happens on the page is reported here afterwards.
  await request.views.storeOrigin(tokenHash);
  await request.reply.send(linkMessage(`${publicUrl}/connect/${token.reveal()}`));
}

export const disconnect = defineCommand({
  name: 'disconnect',
  usage: 'disconnect',
  summary: 'Disconnect the hosting account',
  needs: 'owner',
  parse: () => ({}),
  run: async (_input, request) => {
    await request.authorize(disconnectKey);
    await request.reply.send(disconnectMessage());
  },
  actions: [
    disconnectButton.on(async (_value, request) => {
      const wasThere = await request.execute(disconnectKey, {});
      await request.reply.replace(textMessage(disconnectedWords(wasThere)));
      if (wasThere) await request.announce('disconnected the hosting account');
    }),
  ],
});
