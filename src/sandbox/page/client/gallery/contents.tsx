import { useState } from 'preact/hooks';
import type { GalleryPiece } from '../../../gallery/gallery-api.ts';
import { anchorOf } from './anchor.ts';

interface ContentsProps {
  readonly groups: readonly (readonly [string, readonly GalleryPiece[]])[];
  /** All groups are open while a filter is set. */
  readonly isOpen: boolean;
}

/** The table of contents. */
export function Contents({ groups, isOpen }: ContentsProps) {
  // Closed on a phone, which has no room for it.
  const [isUnfolded] = useState(() => matchMedia('(min-width: 721px)').matches);
  return (
    <nav class="contents" aria-label="Contents">
      <details open={isUnfolded}>
        <summary class="contents-title">Contents</summary>
        {groups.map(([group, pieces]) => (
          <details key={group} open={isOpen || undefined}>
            <summary>
              {group} <span class="quiet">{pieces.length}</span>
            </summary>
            <ul>
              <li>
                <a href={`#${anchorOf(group)}`}>All of {group}</a>
              </li>
              {pieces.map(({ id, name }) => (
                <li key={id}>
                  <a href={`#${id}`}>{name}</a>
                </li>
              ))}
            </ul>
          </details>
        ))}
      </details>
    </nav>
  );
}
