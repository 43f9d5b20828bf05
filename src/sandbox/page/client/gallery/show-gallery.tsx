import { render } from 'preact';
import type { GalleryState } from '../../../gallery/gallery-api.ts';
import { handleActionsWith, showNotice } from '../actions.ts';
import { changeScreen } from '../state.ts';
import { Gallery } from './gallery.tsx';

/** Shows the gallery (`/gallery`). Menus and dialogs work, but there is no app that would receive an action. */
export async function showGallery(frame: HTMLElement): Promise<void> {
  document.title = 'Gallery · Sandbox';
  handleActionsWith(async ({ do: action }) => {
    if (action === 'suggest') return { ok: true, options: [] };
    if (action === 'action' || action === 'submit')
      showNotice('This is the gallery: buttons do nothing here.');
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
