import { textIn } from '../json.ts';
import { enteredBy, type StoredMessage } from '../messages.ts';
import type { StoredView } from '../views.ts';
import { findPerson, type Person, SLACKBOT } from '../workspace.ts';
import type { World } from '../world.ts';
import { renderBlocks } from './blocks.ts';
import { renderMrkdwn } from './mrkdwn.ts';

/** A modal or home tab as text: title, blocks, buttons. */
export function renderView(world: World, view: StoredView): string {
  const around = { channels: world.channels, now: world.clock.now() };
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
export function renderMessage(world: World, message: StoredMessage, person: Person): string {
  const around = { channels: world.channels, now: world.clock.now() };
  if (message.blocks.length === 0) return renderMrkdwn(message.text, around);
  return renderBlocks(message.blocks, { around, entered: enteredBy(message, person.id), errors: {} });
}

/** The line above a message. */
export function renderAuthor(message: StoredMessage): string {
  const name = message.user === SLACKBOT ? 'Slackbot' : (findPerson(message.user)?.name ?? message.user);
  return `${name}${message.to === undefined ? '' : ' (only visible to you)'}${message.edited ? ' (edited)' : ''}:`;
}
