import { isJson } from '../json.ts';
import type { PageAction, PageResult } from '../page-api.ts';
import { type } from '../user-actions/command.ts';
import { close, submit } from '../user-actions/form.ts';
import { openTab, reload } from '../user-actions/home.ts';
import { getChannel } from '../user-actions/places.ts';
import { fill, press } from '../user-actions/press.ts';
import { useShortcut } from '../user-actions/shortcut.ts';
import { suggest } from '../user-actions/suggest.ts';
import type { User } from '../workspace.ts';
import type { World } from '../world.ts';

const TEXTS: Readonly<Record<PageAction['do'], readonly string[]>> = {
  message: ['channel', 'text'],
  command: ['channel', 'text'],
  action: ['block', 'action'],
  fill: ['block', 'action'],
  suggest: ['block', 'action', 'query'],
  submit: ['view'],
  close: ['view'],
  shortcut: ['callbackId'],
  read: ['channel', 'ts'],
  home: [],
  reload: [],
};

/** Whether the JSON is an action with all the fields that it needs. */
export function isPageAction(value: unknown): value is PageAction {
  if (!isJson(value) || typeof value.do !== 'string' || !Object.hasOwn(TEXTS, value.do)) return false;
  const needsPlace = ['action', 'fill', 'suggest'].includes(value.do);
  const texts = TEXTS[value.do as PageAction['do']];
  return texts.every((field) => typeof value[field] === 'string') && (!needsPlace || isJson(value.place));
}

/**
 * Performs an action of the page and waits until the app has acknowledged.
 * @throws SlackRefusal
 */
export async function perform(world: World, user: User, action: PageAction): Promise<PageResult> {
  switch (action.do) {
    case 'message':
    case 'command':
      await type(world, user, action.channel, action.text, { threadTs: action.threadTs });
      return { ok: true };
    case 'action':
      await press(world, user, action);
      return { ok: true };
    case 'fill':
      await fill(world, user, action);
      return { ok: true };
    case 'suggest':
      return { ok: true, ...(await suggest(world, user, action, action.query)) };
    case 'submit':
      await submit(world, user, action.view, action.values);
      return { ok: true };
    case 'close':
      await close(world, user, action.view, action.all);
      return { ok: true };
    case 'shortcut':
      await useShortcut(world, user, action.callbackId, action.message);
      return { ok: true };
    case 'read':
      world.readMarks.mark(user.id, getChannel(world, user, action.channel).id, action.ts);
      return { ok: true };
    case 'home':
      await openTab(world, user, action.tab === 'messages' ? 'messages' : 'home');
      return { ok: true };
    case 'reload':
      reload(world, user);
      return { ok: true };
  }
}
