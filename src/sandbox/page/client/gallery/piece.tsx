import { useMemo } from 'preact/hooks';
import type { GalleryPiece } from '../../../gallery/gallery-api.ts';
import type { PageView } from '../../../slack/page-api.ts';
import { showNotice } from '../actions.ts';
import { Message } from '../channel/message.tsx';
import { ModalLook } from '../modal/modal-look.tsx';
import { Mrkdwn } from '../text/text-view.tsx';

/** One message or modal in its frame, with a link to it. */
export function Piece({ piece, isNarrow }: { readonly piece: GalleryPiece; readonly isNarrow: boolean }) {
  return useMemo(() => {
    const { id, name, kind, blocks } = piece;
    return (
      <article id={id} class={`piece ${kind}-piece ${isNarrow ? 'phone' : ''}`}>
        <h3 class="piece-title">
          <a class="piece-name" href={`#${id}`}>
            {name}
          </a>
          <span class="quiet">
            {kind}, {blocks} {blocks === 1 ? 'block' : 'blocks'}
          </span>
        </h3>
        {piece.kind === 'modal' ? (
          <StillModal view={piece.payload} />
        ) : (
          <div class="message-frame">
            <Message message={piece.payload} isFollowing={false} />
            <div class="notification">
              <span class="quiet">Notification</span>
              <Mrkdwn text={piece.payload.text} />
            </div>
          </div>
        )}
      </article>
    );
  }, [piece, isNarrow]);
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
