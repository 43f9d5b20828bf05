import { textIn } from '../json.ts';
import { enteredBy, type StoredMessage } from '../stored-message.ts';
import type { StoredView } from '../views.ts';
import { SLACKBOT, type User } from '../workspace.ts';
import type { World } from '../world.ts';
import { renderAttachments } from './attachments.ts';
import { renderBlocks } from './blocks.ts';
import { renderMrkdwn } from './mrkdwn.ts';
import type { Surroundings } from './names.ts';

/** A modal or home tab as text: title, blocks, buttons. */
export function renderView(world: World, view: StoredView): string {
  const around = surroundingsOf(world);
  const body = renderBlocks(view.blocks, { around, entered: view.entered, errors: view.errors });
  const close = textIn(view.fields.close, 'text') || 'Cancel';
  const buttons = [close, textIn(view.fields.submit, 'text')]
    .filter((text) => text !== '')
    .map((text) => `[${text}]`);
  const isModal = view.type === 'modal';
  return [
    isModal ? textIn(view.fields.title, 'text') : '',
    body,
    view.trouble ? `! ${view.trouble}` : '',
    isModal ? buttons.join(' ') : '',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** What a reader sees of a message: its blocks, or without any its text. */
export function renderMessage(world: World, message: StoredMessage, user: User): string {
  const around = surroundingsOf(world);
  const shown = { around, entered: enteredBy(message, user.id), errors: {} };
  const content =
    message.blocks.length === 0 ? renderMrkdwn(message.text, around) : renderBlocks(message.blocks, shown);
  if (message.attachments.length === 0) return content;
  return [content, renderAttachments(message.attachments, shown)].filter((part) => part !== '').join('\n');
}

/** The line above a message. */
export function renderAuthor(world: World, message: StoredMessage): string {
  const known = world.roster.findUser(message.user)?.name;
  const name = message.user === SLACKBOT ? 'Slackbot' : (known ?? message.user);
  return `${name}${message.to === undefined ? '' : ' (only visible to you)'}${message.edited ? ' (edited)' : ''}:`;
}

function surroundingsOf({ channels, roster, clock }: World): Surroundings {
  return { channels, roster, now: clock.now() };
}
