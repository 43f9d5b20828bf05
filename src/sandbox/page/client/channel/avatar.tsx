import type { PageUser } from '../../../slack/page-api.ts';
import { Icon } from '../icon.tsx';
import { getScreen } from '../state/store.ts';

const COLOURS = 7;

/** A user's initials on a color of their own; the app has an icon. */
export function Avatar({ user, size = 'large' }: { user: PageUser | undefined; size?: 'large' | 'small' }) {
  const name = user?.realName ?? '';
  const initials = name
    .split(' ')
    .map((word) => word.charAt(0))
    .join('')
    .slice(0, 2);
  const color = user?.isBot ? 'app' : `color-${colorOf(user)}`;
  return (
    <span class={`avatar ${size} ${color}`} aria-hidden="true">
      {user?.isBot ? <Icon name="app" /> : user ? initials : '!'}
    </span>
  );
}

/** Neighbors in the list of users never share a color. */
function colorOf(user: PageUser | undefined): number {
  const people = getScreen().state?.people ?? [];
  return (people.findIndex(({ id }) => id === user?.id) + COLOURS) % COLOURS;
}
