import type { PagePerson } from '../../../slack/page-api.ts';
import { Icon } from '../icon.tsx';
import { getScreen } from '../state/store.ts';

const COLOURS = 7;

/** A person's initials on a colour of their own; the app has a sign. */
export function Avatar({
  person,
  size = 'large',
}: {
  person: PagePerson | undefined;
  size?: 'large' | 'small';
}) {
  const name = person?.realName ?? '';
  const initials = name
    .split(' ')
    .map((word) => word.charAt(0))
    .join('')
    .slice(0, 2);
  const colour = person?.isBot ? 'app' : `colour-${colourOf(person)}`;
  return (
    <span class={`avatar ${size} ${colour}`} aria-hidden="true">
      {person?.isBot ? <Icon name="app" /> : person ? initials : '!'}
    </span>
  );
}

/** Neighbours in the list of people never share a colour. */
function colourOf(person: PagePerson | undefined): number {
  const people = getScreen().state?.people ?? [];
  return (people.findIndex(({ id }) => id === person?.id) + COLOURS) % COLOURS;
}
