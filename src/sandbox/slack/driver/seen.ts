import { pageMessage, pageView } from '../page/describe.ts';
import type { PageMessage, PageView } from '../page-api.ts';
import { renderAuthor, renderMessage, renderView } from '../render/screen.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { StoredView } from '../views.ts';
import type { User } from '../workspace.ts';
import type { World } from '../world.ts';

const MINUTE_MS = 60_000;

/** A message as a user sees it. */
export interface SeenMessage extends PageMessage {
  /** "vps (only visible to you):" */
  readonly heading: string;
  /** The blocks (or without any the text) as read. */
  readonly shown: string;
}

/** A modal or home tab as a user sees it. */
export interface SeenView extends PageView {
  readonly shown: string;
}

/**
 * Looks at messages as this user. A wait looks at the whole screen after every event, so what can't look different now
 * is not rendered again.
 */
export function createSight(world: World, user: User): (message: StoredMessage) => SeenMessage {
  const known = new WeakMap<StoredMessage, { readonly at: string; readonly seen: SeenMessage }>();
  return (message) => {
    const at = `${world.roster.edition} ${Math.floor(world.clock.now() / MINUTE_MS)}`;
    const before = known.get(message);
    if (before?.at === at && !message.entered.get(user.id)?.size) return before.seen;
    const seen = seeMessage(world, message, user);
    known.set(message, { at, seen });
    return seen;
  };
}

function seeMessage(world: World, message: StoredMessage, user: User): SeenMessage {
  return {
    ...pageMessage(world, message, user),
    heading: renderAuthor(world, message),
    shown: renderMessage(world, message, user),
  };
}

export function seeView(world: World, view: StoredView): SeenView {
  return { ...pageView(view), shown: renderView(world, view) };
}

/** Compares texts without regard to line breaks and indentation. */
export function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
