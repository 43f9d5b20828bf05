import type { PageView } from '../../../slack/page-api.ts';
import { Blocks } from '../blocks/block-view.tsx';
import { SurfaceContext } from '../elements/surface.ts';
import { Icon } from '../icon.tsx';

interface ModalLookProps {
  readonly view: PageView;
  readonly titleId: string;
  readonly isStacked: boolean;
  readonly isBusy: boolean;
  readonly onClose: (all: boolean) => void;
}

/** What is inside a modal: its head, its blocks, what went wrong, its buttons. */
export function ModalLook({ view, titleId, isStacked, isBusy, onClose }: ModalLookProps) {
  return (
    <>
      <header class="modal-head">
        {isStacked && (
          <button type="button" class="icon-button" aria-label="Back" onClick={() => onClose(false)}>
            <Icon name="back" />
          </button>
        )}
        <h2 id={titleId}>{view.title}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={() => onClose(true)}>
          <Icon name="close" />
        </button>
      </header>
      <div class="modal-body">
        <SurfaceContext.Provider
          value={{ place: { view: view.id }, values: view.values, errors: view.errors }}
        >
          <Blocks blocks={view.blocks} />
        </SurfaceContext.Provider>
      </div>
      <div role="alert" class={view.trouble ? 'modal-trouble' : ''}>
        {view.trouble}
      </div>
      <footer class="modal-foot">
        <button type="button" class="button" onClick={() => onClose(false)}>
          {view.close}
        </button>
        {view.submit !== undefined && (
          <button type="submit" class="button primary" aria-disabled={isBusy}>
            {view.submit}
            {isBusy && <span class="spinner" aria-hidden="true" />}
          </button>
        )}
      </footer>
    </>
  );
}
