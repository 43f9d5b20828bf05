import { useEffect, useMemo, useState } from 'preact/hooks';
import type { GalleryPiece, SentenceRow } from '../../../gallery/gallery-api.ts';
import type { PageView } from '../../../slack/page-api.ts';
import { showNotice } from '../actions.ts';
import { Notices } from '../app.tsx';
import { Blocks } from '../blocks/block-view.tsx';
import { Home } from '../channel/channel-header.tsx';
import { Message } from '../channel/messages.tsx';
import { Segments } from '../controls.tsx';
import { scrollable } from '../elements/popup.tsx';
import { ConfirmDialog, ModalLook } from '../modal.tsx';
import { Mrkdwn } from '../text/view.tsx';

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

interface GalleryToolsProps {
  readonly options: ViewOptions;
  readonly change: (change: Partial<ViewOptions>) => void;
  readonly shown: number;
  readonly all: number;
}

const THEMES: readonly (readonly [ViewOptions['theme'], string])[] = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

/** Filter, theme and width. */
function GalleryTools({ options, change, shown, all }: GalleryToolsProps) {
  return (
    <header class="gallery-tools">
      <h1>
        Gallery <span class="quiet">{shown === all ? all : `${shown} of ${all}`}</span>
      </h1>
      <input
        type="search"
        class="text-input"
        placeholder="Filter by name or words"
        aria-label="Filter"
        value={options.filter}
        onInput={(event) => change({ filter: event.currentTarget.value })}
      />
      <Segments
        name="theme"
        legend="Light or dark"
        options={THEMES}
        chosen={options.theme}
        onChoose={(theme) => change({ theme })}
      />
      <label class="choice">
        <input
          type="checkbox"
          checked={options.isNarrow}
          onChange={(event) => change({ isNarrow: event.currentTarget.checked })}
        />
        Phone width
      </label>
    </header>
  );
}

/** Filter, theme and width of the gallery; they are part of the address, so that a view can be shared. */
interface ViewOptions {
  readonly filter: string;
  readonly theme: 'system' | 'light' | 'dark';
  readonly isNarrow: boolean;
}

/** Reads the options from the address, and writes changes back to it. */
function useViewOptions(): readonly [ViewOptions, (change: Partial<ViewOptions>) => void] {
  const [options, setOptions] = useState(readOptions);
  useEffect(() => {
    document.documentElement.classList.toggle('light', options.theme === 'light');
    document.documentElement.classList.toggle('dark', options.theme === 'dark');
    globalThis.history.replaceState(null, '', addressOf(options));
  }, [options]);
  return [options, (change) => setOptions({ ...options, ...change })];
}

function readOptions(): ViewOptions {
  const query = new URLSearchParams(location.search);
  const theme = query.get('theme');
  return {
    filter: query.get('filter') ?? '',
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    isNarrow: query.get('width') === 'phone',
  };
}

function addressOf({ filter, theme, isNarrow }: ViewOptions): string {
  const query = new URLSearchParams();
  if (filter !== '') query.set('filter', filter);
  if (theme !== 'system') query.set('theme', theme);
  if (isNarrow) query.set('width', 'phone');
  const words = query.toString();
  return `${location.pathname}${words ? `?${words}` : ''}${location.hash}`;
}

interface ContentsProps {
  readonly groups: readonly (readonly [string, readonly GalleryPiece[]])[];
  /** All groups are open while a filter is set. */
  readonly isOpen: boolean;
}

/** The table of contents. */
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

/** The address of a group within the page. */
function anchorOf(group: string): string {
  return `group-${group.toLowerCase().replaceAll(' ', '-')}`;
}

/** One message or modal in its frame, with a link to it. */
function Piece({ piece, isNarrow }: { readonly piece: GalleryPiece; readonly isNarrow: boolean }) {
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
