import type { SlackEvent } from '../journal.ts';
import type { User } from '../workspace.ts';
import type { World } from '../world.ts';

/** If a user sees nothing of a command for this long, they assume that it failed. */
const SILENCE_MS = 3000;

/** Records a broken rule when the user has seen nothing 3 s after they typed a command. */
export function watchForSilence(world: World, user: User, what: string): void {
  const end = () => {
    stop();
    clearTimeout(timer);
  };
  const stop = world.journal.onEvent((event) => {
    if (isSeenBy(event, user, world)) end();
  });
  const timer = setTimeout(() => {
    stop();
    world.journal.breakRule('silent', `${what}: ${user.name} saw nothing for 3 s`);
  }, SILENCE_MS);
  timer.unref();
}

function isSeenBy(event: SlackEvent, user: User, world: World): boolean {
  if (event.type === 'views' || event.type === 'home') return event.user === user.id;
  if (event.type !== 'message' && event.type !== 'message_changed') return false;
  const { to, channel, user: author } = event.message;
  if (author === user.id) return false;
  if (to !== undefined) return to === user.id;
  return world.channels.some(({ id, members }) => id === channel && members.has(user.id));
}
