import { disconnectKey } from '../../app/account/connect-key.ts';
import { makeConnectLink } from '../../app/account/connect-link.ts';
import { Refusal } from '../../domain/errors.ts';
import { actions, confirmation, context, type Message, textMessage } from '../kit/blocks.ts';
import { defineCommand } from '../kit/command.ts';
import type { SlackRequest } from '../transport/request.ts';
import { connectButton, disconnectButton, linkButton } from './buttons.ts';

export const connect = defineCommand({
  name: 'connect',
  usage: 'connect',
  summary: 'Gives you a one-time link to the form that takes the hosting API key',
  needs: 'owner',
  parse: ({ words }) =>
    // Users who typed a key into the chat have to know that Slack has it now.
    words.length > 0
      ? 'An API key is never typed into Slack. If you just did, revoke it on the hosting account’s page, and make a new one.'
      : {},
  run: (_input, request) => sendLink(request),
  actions: [
    connectButton.on((_value, request) => sendLink(request)),
    // Slack opens the address itself; the press only needs an ack.
    linkButton.on(async () => {}),
  ],
});

async function sendLink(request: SlackRequest): Promise<void> {
  const { publicUrl } = request;
  await request.authorize(makeConnectLink);
  if (publicUrl === undefined) throw new Refusal('no_public_url', {});
  const { token } = await request.execute(makeConnectLink, {});
  await request.reply.send(linkMessage(`${publicUrl}/connect/${token.reveal()}`));
}

/** Leads to the form that takes the API key. The link is for one user and works once. */
export function linkMessage(url: string): Message {
  const open = { ...linkButton.element('Enter the API key', {}, { style: 'primary' }), url };
  return textMessage(
    'Enter the hosting account’s API key in a form of this app, not in Slack.',
    actions(open),
    context('The link is for you alone, works once, and for ten minutes.'),
  );
}

export const disconnect = defineCommand({
  name: 'disconnect',
  usage: 'disconnect',
  summary: 'Makes the app forget the hosting API key',
  needs: 'owner',
  parse: () => ({}),
  run: async (_input, request) => {
    await request.authorize(disconnectKey);
    await request.reply.send(disconnectMessage());
  },
  actions: [
    disconnectButton.on(async (_value, request) => {
      const wasThere = await request.execute(disconnectKey, {});
      const words = wasThere
        ? 'The API key was forgotten. Revoke it on the account page if nobody else uses it.'
        : 'There was no API key to forget.';
      await request.reply.replace(textMessage(words));
    }),
  ],
});

/** Asks before the API key is removed. */
export function disconnectMessage(): Message {
  const confirm = confirmation({
    title: 'Forget the API key?',
    text: 'Nobody can use /vps until an owner connects again. Servers go on running.',
    confirm: 'Disconnect',
    isDangerous: true,
  });
  return textMessage(
    'The app forgets the API key of this workspace; servers are not touched.',
    actions(disconnectButton.element('Disconnect', {}, { style: 'danger', confirm })),
  );
}
