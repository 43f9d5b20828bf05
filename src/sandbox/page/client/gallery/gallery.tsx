import { useMemo } from 'preact/hooks';
import type { GalleryPiece } from '../../../gallery/gallery-api.ts';
import { scrollable } from '../elements/scrollable.ts';
import { ConfirmDialog } from '../modal/confirm.tsx';
import { Notices } from '../notices.tsx';
import { anchorOf } from './anchor.ts';
import { Contents } from './contents.tsx';
import { Piece } from './piece.tsx';
import { GalleryTools } from './tools.tsx';
import { useViewOptions } from './view-options.ts';

/** Every message and modal of the app, to review changes of words and layout. */
export function Gallery({ pieces }: { readonly pieces: readonly GalleryPiece[] }) {
  const [options, change] = useViewOptions();
  const all = useMemo(() => pieces.map(makeFindable), [pieces]);
  const shown = useMemo(() => findPieces(all, options.filter), [all, options.filter]);
  const groups = [...new Set(shown.map(({ group }) => group))].map(
    (group) => [group, shown.filter((piece) => piece.group === group)] as const,
  );
  return (
    <div class="gallery">
      <GalleryTools options={options} change={change} shown={shown.length} all={pieces.length} />
      <Contents groups={groups} isOpen={options.filter !== ''} />
      <main class="pieces" {...scrollable}>
        {shown.length === 0 && <p class="beginning">Nothing matches this filter.</p>}
        {groups.map(([group, members]) => (
          <section key={group} id={anchorOf(group)} aria-label={group}>
            <h2 class="group-title">{group}</h2>
            {members.map((piece) => (
              <Piece key={piece.id} piece={piece} isNarrow={options.isNarrow} />
            ))}
          </section>
        ))}
      </main>
      <ConfirmDialog />
      <Notices />
    </div>
  );
}

interface Findable {
  readonly piece: GalleryPiece;
  /** All its text, in lower case. */
  readonly text: string;
}

function makeFindable(piece: GalleryPiece): Findable {
  const text = `${piece.group} ${piece.name} ${JSON.stringify(piece.kind === 'sentences' ? piece.rows : piece.payload)}`;
  return { piece, text: text.toLowerCase() };
}

/** The pieces whose name or text contains all the words. */
function findPieces(all: readonly Findable[], filter: string): readonly GalleryPiece[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter(({ text }) => words.every((word) => text.includes(word))).map(({ piece }) => piece);
}
