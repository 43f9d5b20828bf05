import { actions, confirmation, context, type Message, textMessage } from '../kit/blocks.ts';
import { count, mention } from '../kit/text.ts';
import { connectButton, disconnectButton, linkButton } from './buttons.ts';

/** Leads to the page that takes the API key. The link is for one user and works once. */
export function linkMessage(url: string): Message {
  const open = { ...linkButton.element('Enter the API key', {}, { style: 'primary' }), url };
  return textMessage(
    'Enter your hosting API key on a secure page outside Slack.',
    actions(open),
    context('This link is just for you. It works once and expires in 10 minutes.'),
  );
}

/** What a user reads who has just installed the app. */
export function installedMessage(): Message {
  return textMessage(
    'Thanks for installing vps! To get started, connect your hosting account: create an API key on its page, then enter it in a secure form outside Slack.',
    actions(connectButton.element('Connect…', {}, { style: 'primary' })),
    context('The *Home* tab shows the next steps.'),
  );
}

/** The key works: what there is now, and what to do next. */
export function connectedMessage(servers: number | undefined): Message {
  const next =
    servers === 0
      ? 'It has no servers yet. Create one with `/vps create`.'
      : 'See its servers with `/vps list`, or create one with `/vps create`.';
  const found = !servers ? '' : `: ${count(servers, 'server')}`;
  return textMessage(`Your hosting account is connected${found}. ${next}`);
}

/** What the channel reads. */
export function connectedAnnouncement(userId: string): Message {
  return textMessage(`${mention(userId)} connected the hosting account`);
}

/** Asks before the API key is removed. */
export function disconnectMessage(): Message {
  const confirm = confirmation({
    title: 'Disconnect the hosting account?',
    text: 'Nobody can use /vps until an owner connects again. Servers keep running.',
    confirm: 'Disconnect',
    isDangerous: true,
  });
  return textMessage(
    'Disconnecting removes the API key. Your servers keep running.',
    actions(disconnectButton.element('Disconnect', {}, { style: 'danger', confirm })),
  );
}

/** What became of it; `wasThere`: there was a key to remove. */
export function disconnectedWords(wasThere: boolean): string {
  return wasThere
    ? 'The hosting account is disconnected and its API key is removed from this app. If nothing else uses the key, revoke it on your hosting account’s API keys page. To reconnect, run `/vps connect`.'
    : 'No hosting account was connected.';
}
