import { useMemo } from 'preact/hooks';
import type { GalleryPiece, SentenceRow } from '../../../gallery/gallery-api.ts';
import type { PageView } from '../../../slack/page-api.ts';
import { showNotice } from '../actions.ts';
import { Blocks } from '../blocks/block-view.tsx';
import { Home } from '../channel/home.tsx';
import { Message } from '../channel/message.tsx';
import { ModalLook } from '../modal/modal-look.tsx';
import { Mrkdwn } from '../text/text-view.tsx';

/** One message or modal in its frame, with a link to it. */
export function Piece({ piece, isNarrow }: { readonly piece: GalleryPiece; readonly isNarrow: boolean }) {
  return useMemo(() => {
    const { id, name, kind } = piece;
    return (
      <article id={id} class={`piece ${kind}-piece ${isNarrow ? 'phone' : ''}`}>
        <h3 class="piece-title">
          <a class="piece-name" href={`#${id}`}>
            {name}
          </a>
          <span class="quiet">{describeSize(piece)}</span>
        </h3>
        <Content piece={piece} />
      </article>
    );
  }, [piece, isNarrow]);
}

function describeSize(piece: GalleryPiece): string {
  if (piece.kind === 'sentences') return `${piece.rows.length} more`;
  const { length } = piece.payload.blocks;
  return `${piece.kind}, ${length} ${length === 1 ? 'block' : 'blocks'}`;
}

function Content({ piece }: { readonly piece: GalleryPiece }) {
  if (piece.kind === 'modal') return <StillModal view={piece.payload} />;
  if (piece.kind === 'sentences') return <SentenceList rows={piece.rows} />;
  if (piece.kind === 'home') return <Home view={piece.payload} appName="vps" />;
  return (
    <div class="message-frame">
      <Message message={piece.payload} isFollowing={false} />
      <Notification text={piece.payload.text} />
    </div>
  );
}

function Notification({ text }: { readonly text: string }) {
  return (
    <div class="notification">
      <span class="quiet">Notification</span>
      <Mrkdwn text={text} />
    </div>
  );
}

/** What messages of one build say, one row each. */
function SentenceList({ rows }: { readonly rows: readonly SentenceRow[] }) {
  return (
    <dl class="sentences">
      {rows.map(({ name, blocks, notification }) => (
        <div key={name} class="sentence">
          <dt>{name}</dt>
          <dd>
            <Blocks blocks={blocks} />
            {notification !== undefined && <Notification text={notification} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A modal that can't be closed. */
function StillModal({ view }: { readonly view: PageView }) {
  const refuse = () => showNotice('This is the gallery: buttons do nothing here.');
  return (
    <div class="dialog modal still">
      <form
        class="modal-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          refuse();
        }}
      >
        <ModalLook
          view={view}
          titleId={`title-${view.id}`}
          isStacked={false}
          isBusy={false}
          onClose={refuse}
        />
      </form>
    </div>
  );
}
