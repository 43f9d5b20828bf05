import { render } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { GalleryPiece, GalleryState, SentenceRow } from '../../../gallery/gallery-api.ts';
import type { PageView } from '../../../slack/page-api.ts';
import { handleActionsWith, showNotice } from '../actions.ts';
import { Notices } from '../app.tsx';
import { Blocks } from '../blocks/block-view.tsx';
import { Home } from '../channel/channel-header.tsx';
import { Message } from '../channel/messages.tsx';
import { scrollable } from '../elements/popup.tsx';
import { ConfirmDialog, ModalLook } from '../modal.tsx';
import { changeScreen } from '../state.ts';
import { Mrkdwn } from '../text/view.tsx';

/** Shows the gallery (`/gallery`). Menus and dialogs work, but there is no app that would receive an action. */
export async function showGallery(frame: HTMLElement): Promise<void> {
  document.title = 'Gallery · Sandbox';
  handleActionsWith(async ({ do: action }) => {
    if (action === 'suggest') return { ok: true, options: [] };
    if (action === 'action' || action === 'submit') refuse();
    return { ok: true };
  });
  const answer = await fetch('/gallery.json').catch(() => undefined);
  if (!answer?.ok) {
    render(<p class="waiting">There is no gallery here. Start it with `npm run sandbox`.</p>, frame);
    return;
  }
  const { workspace, pieces } = (await answer.json()) as GalleryState;
  changeScreen({ state: workspace });
  render(<Gallery pieces={pieces} />, frame);
  const named = decodeURIComponent(location.hash.slice(1));
  document.getElementById(named)?.scrollIntoView();
}

const refuse = () => showNotice('This is the gallery: buttons do nothing here.');

/** Every message and modal of the app, to review changes of words and layout. */
function Gallery({ pieces }: { readonly pieces: readonly GalleryPiece[] }) {
  const [filter, change] = useFilter();
  const texts = useMemo(() => pieces.map(textOf), [pieces]);
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = pieces.filter((_, at) => words.every((word) => texts[at]?.includes(word)));
  const groups = [...new Set(shown.map(({ group }) => group))].map(
    (group) => [group, shown.filter((piece) => piece.group === group)] as const,
  );
  return (
    <div class="gallery">
      <header class="gallery-tools">
        <h1>
          Gallery{' '}
          <span class="quiet">
            {shown.length === pieces.length ? pieces.length : `${shown.length} of ${pieces.length}`}
          </span>
        </h1>
        <input
          type="search"
          class="text-input"
          placeholder="Filter by name or words"
          aria-label="Filter"
          value={filter}
          onInput={(event) => change(event.currentTarget.value)}
        />
      </header>
      <Contents groups={groups} isOpen={filter !== ''} />
      <main class="pieces" {...scrollable}>
        {shown.length === 0 && <p class="beginning">Nothing matches this filter.</p>}
        {groups.map(([group, members]) => (
          <section key={group} id={anchorOf(group)} aria-label={group}>
            <h2 class="group-title">{group}</h2>
            {members.map((piece) => (
              <Piece key={piece.id} piece={piece} />
            ))}
          </section>
        ))}
      </main>
      <ConfirmDialog />
      <Notices />
    </div>
  );
}

function textOf(piece: GalleryPiece): string {
  const content = piece.kind === 'sentences' ? piece.rows : piece.payload;
  return `${piece.group} ${piece.name} ${JSON.stringify(content)}`.toLowerCase();
}

/** The filter is part of the address, so that a view can be shared. */
function useFilter(): readonly [string, (filter: string) => void] {
  const [filter, setFilter] = useState(() => new URLSearchParams(location.search).get('filter') ?? '');
  const change = (next: string) => {
    const query = next === '' ? '' : `?${new URLSearchParams({ filter: next })}`;
    globalThis.history.replaceState(null, '', `${location.pathname}${query}${location.hash}`);
    setFilter(next);
  };
  return [filter, change];
}

interface ContentsProps {
  readonly groups: readonly (readonly [string, readonly GalleryPiece[]])[];
  /** All groups are open while a filter is set. */
  readonly isOpen: boolean;
}

function Contents({ groups, isOpen }: ContentsProps) {
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

function anchorOf(group: string): string {
  return `group-${group.toLowerCase().replaceAll(' ', '-')}`;
}

function Piece({ piece }: { readonly piece: GalleryPiece }) {
  return useMemo(() => {
    const { id, name } = piece;
    return (
      <article id={id} class="piece">
        <h3 class="piece-title">
          <a class="piece-name" href={`#${id}`}>
            {name}
          </a>
          <span class="quiet">{describeSize(piece)}</span>
        </h3>
        <Content piece={piece} />
      </article>
    );
  }, [piece]);
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

function StillModal({ view }: { readonly view: PageView }) {
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
