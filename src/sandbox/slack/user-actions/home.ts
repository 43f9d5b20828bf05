import { findChannel } from '../channels.ts';
import type { Delivery } from '../deliver.ts';
import { sendEvent } from '../events.ts';
import { SlackRefusal } from '../refusal.ts';
import { describeView } from '../views.ts';
import type { User } from '../workspace.ts';
import type { World } from '../world.ts';
import { checkActive } from './places.ts';

/** A user opens the app's home tab. */
export async function openHome(world: World, user: User): Promise<Delivery | undefined> {
  checkActive(world, user);
  if (!world.app.hasHomeTab) throw new SlackRefusal('no_home', 'This app has no Home tab');
  const channel = findChannel(world.channels, 'dm', user.id);
  if (!channel) throw new SlackRefusal('no_home', `${user.name} can't open the app's home`);
  const home = world.views.homeOf(user.id);
  return sendEvent(world, {
    type: 'app_home_opened',
    user: user.id,
    channel: channel.id,
    tab: 'home',
    ...(home ? { view: describeView(home) } : {}),
  });
}

/** A user reloads the client: ephemeral messages and open modals are gone. */
export function reload(world: World, user: User): void {
  world.messages.forgetEphemeralsOf(user.id);
  const top = world.views.stackOf(user.id).at(-1);
  if (top) world.views.close(top, true);
  world.journal.emit({ type: 'reload', user: user.id });
}
