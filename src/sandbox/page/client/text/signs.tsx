import type { ComponentChildren } from 'preact';
import { DRAWN_EMOJIS, DRAWN_PATTERN, type DrawnEmoji } from './drawn-emojis.ts';

/** Slack draws emojis from images of its own; so do we those that the app uses: not every machine has a font for them. */
const DRAWINGS: Readonly<Record<DrawnEmoji, ComponentChildren>> = {
  '🟢': dot('green'),
  '🟡': dot('yellow'),
  '🔴': dot('red'),
  '⚪': dot('white'),
  '🔵': dot('blue'),
  '🟠': dot('orange'),
  '⚠': (
    <>
      <path class="sign-yellow" d="M8 1.5 15.3 14.5H.7Z" />
      <path class="sign-line" d="M8 6v4M8 12.3v.1" />
    </>
  ),
  '🔒': (
    <>
      <path class="sign-edge" d="M4.8 7.5V5a3.2 3.2 0 0 1 6.4 0v2.5" />
      <rect class="sign-yellow" x="2.8" y="7" width="10.4" height="7.5" rx="1.5" />
    </>
  ),
  '🔑': (
    <>
      <path class="sign-edge" d="M8.2 7.8 14 2M11.2 4.8l2.2 2.2" />
      <circle class="sign-ring" cx="5.5" cy="10.5" r="3.2" />
    </>
  ),
  '✋': (
    <path
      class="sign-yellow"
      d="M3 8.5v-4a1 1 0 0 1 2 0V3a1 1 0 0 1 2 0v-.8a1 1 0 0 1 2 0V3a1 1 0 0 1 2 0v6l1.2-1.6a1 1 0 0 1 1.6 1.2L11 13.5c-.7.9-1.7 1.5-3.3 1.5C4.7 15 3 13 3 10.5Z"
    />
  ),
};

function dot(color: string) {
  return <circle class={`sign-${color}`} cx="8" cy="8" r="6" />;
}

/** Words, with their emojis as drawings. */
export function Signed({ text }: { readonly text: string }) {
  if (!DRAWN_PATTERN.test(text)) return <>{text}</>;
  // With a group in the pattern, every second part is an emoji.
  const parts = text.split(DRAWN_PATTERN);
  return <>{parts.map((part, at) => (at % 2 === 1 ? <Sign key={at} emoji={part as DrawnEmoji} /> : part))}</>;
}

function Sign({ emoji }: { readonly emoji: DrawnEmoji }) {
  return (
    <span class="sign" role="img" aria-label={DRAWN_EMOJIS[emoji]}>
      <span class="sign-text">{emoji}</span>
      <svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
        {DRAWINGS[emoji]}
      </svg>
    </span>
  );
}
