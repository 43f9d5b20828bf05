import type { ComponentChildren } from 'preact';
import type { PageUser } from '../../slack/page-api.ts';
import { getScreen } from './state.ts';

/** Drawn here rather than taken from a font: not every machine has signs for these. */
const SHAPES = {
  lock: (
    <>
      <rect x="3.5" y="7" width="9" height="6.5" rx="1.5" />
      <path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2" />
    </>
  ),
  hash: <path d="M6 2.5 4.5 13.5M11.5 2.5 10 13.5M2.5 5.5h11.5M2 10.5h11.5" />,
  shared: (
    <>
      <circle cx="5.5" cy="8" r="3.5" />
      <circle cx="10.5" cy="8" r="3.5" />
    </>
  ),
  app: (
    <>
      <rect x="2.5" y="3" width="11" height="4" rx="1" />
      <rect x="2.5" y="9" width="11" height="4" rx="1" />
      <path d="M5 5h.01M5 11h.01" />
    </>
  ),
  people: (
    <>
      <circle cx="8" cy="5.5" r="2.5" />
      <path d="M3 13.5c.5-3 2.5-4 5-4s4.5 1 5 4" />
    </>
  ),
  eye: (
    <>
      <path d="M1.5 8C3 5 5.3 3.5 8 3.5S13 5 14.5 8C13 11 10.7 12.5 8 12.5S3 11 1.5 8Z" />
      <circle cx="8" cy="8" r="2" />
    </>
  ),
  send: <path d="M2.5 8h5M2.5 8 3 2.5 14 8 3 13.5Z" />,
  menu: <path d="M2 4h12M2 8h12M2 12h12" />,
  close: <path d="m3.5 3.5 9 9M12.5 3.5l-9 9" />,
  back: <path d="M10 3 5 8l5 5" />,
  plus: <path d="M8 3v10M3 8h10" />,
  upDown: <path d="m5 6 3-3 3 3M5 10l3 3 3-3" />,
} as const satisfies Readonly<Record<string, ComponentChildren>>;

export type IconName = keyof typeof SHAPES;

/** A small drawing next to words or inside a labeled button; screen readers skip it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {SHAPES[name]}
    </svg>
  );
}

/** White letters are readable on each of them. */
const COLORS = ['#8a3d62', '#3a5ba8', '#7a5310', '#41702b', '#6b479f', '#22697f', '#a04427'];

/** A user's initials on a color of their own; the app has an icon. */
export function Avatar({ user, size = 'large' }: { user: PageUser | undefined; size?: 'large' | 'small' }) {
  const name = user?.realName ?? '';
  const initials = name
    .split(' ')
    .map((word) => word.charAt(0))
    .join('')
    .slice(0, 2);
  const isApp = user?.isBot ?? false;
  const style = isApp ? undefined : { background: colorOf(user) };
  return (
    <span class={`avatar ${size} ${isApp ? 'app' : ''}`} style={style} aria-hidden="true">
      {isApp ? <Icon name="app" /> : user ? initials : '!'}
    </span>
  );
}

/** Neighbors in the list of users never share a color. */
function colorOf(user: PageUser | undefined): string | undefined {
  const people = getScreen().state?.people ?? [];
  return COLORS.at(people.findIndex(({ id }) => id === user?.id) % COLORS.length);
}
