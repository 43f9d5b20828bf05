import { type } from '../acts/command.ts';
import { openHome, reload, useShortcut } from '../acts/elsewhere.ts';
import { close, submit } from '../acts/form.ts';
import { getChannel } from '../acts/places.ts';
import { fill, press } from '../acts/press.ts';
import { suggest } from '../acts/suggest.ts';
import { isJson } from '../json.ts';
import type { PageDeed, PageDone } from '../page-api.ts';
import type { Person } from '../workspace.ts';
import type { World } from '../world.ts';

const TEXTS: Readonly<Record<PageDeed['do'], readonly string[]>> = {
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

/** Tells whether the JSON is a deed with all the texts that it needs. */
export function isPageDeed(value: unknown): value is PageDeed {
  if (!isJson(value) || typeof value.do !== 'string' || !Object.hasOwn(TEXTS, value.do)) return false;
  const needsPlace = ['action', 'fill', 'suggest'].includes(value.do);
  const texts = TEXTS[value.do as PageDeed['do']];
  return texts.every((field) => typeof value[field] === 'string') && (!needsPlace || isJson(value.place));
}

/**
 * Does what the page asks for and waits until the app has acknowledged.
 * @throws SlackRefusal
 */
export async function perform(world: World, person: Person, deed: PageDeed): Promise<PageDone> {
  switch (deed.do) {
    case 'message':
    case 'command':
      await type(world, person, deed.channel, deed.text);
      return { ok: true };
    case 'action':
      await press(world, person, deed);
      return { ok: true };
    case 'fill':
      await fill(world, person, deed);
      return { ok: true };
    case 'suggest':
      return { ok: true, ...(await suggest(world, person, deed, deed.query)) };
    case 'submit':
      await submit(world, person, deed.view, deed.values);
      return { ok: true };
    case 'close':
      await close(world, person, deed.view, deed.all);
      return { ok: true };
    case 'shortcut':
      await useShortcut(world, person, deed.callbackId, deed.message);
      return { ok: true };
    case 'read':
      world.readMarks.mark(person.id, getChannel(world, person, deed.channel).id, deed.ts);
      return { ok: true };
    case 'home':
      await openHome(world, person);
      return { ok: true };
    case 'reload':
      reload(world, person);
      return { ok: true };
  }
}
