import { useExtras } from '../state/extras.ts';
import { isFollowable } from '../text/inline.ts';

/** The other pages of the sandbox. */
export function Links() {
  const { links } = useExtras();
  const good = links.filter(({ href }) => isFollowable(href) || /^\/(?!\/)/.test(href));
  if (good.length === 0) return null;
  return (
    <ul class="panel-links">
      {good.map(({ text, href, hint }) => (
        <li key={href}>
          <a href={href} target="_blank" rel="noopener noreferrer">
            <strong>{text} ↗</strong>
            <span>{hint}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
