import type { PageUser } from '../../../slack/page-api.ts';
import { Icon } from '../icon.tsx';
import { getScreen } from '../state/store.ts';

const COLOURS = 7;

/** A user's initials on a colour of their own; the app has a sign. */
export function Avatar({ user, size = 'large' }: { user: PageUser | undefined; size?: 'large' | 'small' }) {
  const name = user?.realName ?? '';
  const initials = name
    .split(' ')
    .map((word) => word.charAt(0))
    .join('')
    .slice(0, 2);
  const colour = user?.isBot ? 'app' : `colour-${colourOf(user)}`;
  return (
    <span class={`avatar ${size} ${colour}`} aria-hidden="true">
      {user?.isBot ? <Icon name="app" /> : user ? initials : '!'}
    </span>
  );
}

/** Neighbours in the list of people never share a colour. */
function colourOf(user: PageUser | undefined): number {
  const people = getScreen().state?.people ?? [];
  return (people.findIndex(({ id }) => id === user?.id) + COLOURS) % COLOURS;
}
