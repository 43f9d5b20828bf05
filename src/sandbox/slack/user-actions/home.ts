import { findChannel } from '../channels.ts';
import type { Delivery } from '../deliver.ts';
import { sendEvent } from '../events.ts';
import { SlackRefusal } from '../refusal.ts';
import { describeView } from '../views.ts';
import type { User } from '../workspace.ts';
import type { World } from '../world.ts';
import { checkActive } from './places.ts';

export type AppTab = 'home' | 'messages';

/** A user opens a tab of the app's conversation. Slack sends the event each time, and for each of the tabs. */
export async function openTab(world: World, user: User, tab: AppTab): Promise<Delivery | undefined> {
  checkActive(world, user);
  const isThere = tab === 'home' ? world.app.hasHomeTab : world.app.hasMessagesTab;
  if (!isThere) throw new SlackRefusal('no_home', `This app has no ${TAB_NAMES[tab]} tab`);
  const channel = findChannel(world.channels, 'dm', user.id);
  if (!channel) throw new SlackRefusal('no_home', `${user.name} can't open the app's home`);
  const home = tab === 'home' ? world.views.homeOf(user.id) : undefined;
  return sendEvent(world, {
    type: 'app_home_opened',
    user: user.id,
    channel: channel.id,
    tab,
    ...(home ? { view: describeView(home, user.teamId, world.team.id) } : {}),
  });
}

const TAB_NAMES = { home: 'Home', messages: 'Messages' } as const;

/** A user reloads the client: ephemeral messages and open modals are gone. */
export function reload(world: World, user: User): void {
  world.messages.forgetEphemeralsOf(user.id);
  const top = world.views.stackOf(user.id).at(-1);
  if (top) world.views.close(top, true);
  world.journal.emit({ type: 'reload', user: user.id });
}
