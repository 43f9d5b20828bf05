import { render } from 'preact';
import type { GalleryState } from '../../../gallery/gallery-api.ts';
import { handleActionsWith, showNotice } from '../actions.ts';
import { changeScreen } from '../state/store.ts';
import { Gallery } from './gallery.tsx';
import { people } from './gallery-state.ts';
import '../styles/index.css';
import '../styles/gallery.css';

// Menus open and questions are asked, but there is no app that would hear of it.
handleActionsWith(async ({ do: action }) => {
  if (action === 'suggest') return { ok: true, options: [] };
  if (action === 'action' || action === 'submit') showNotice('Nothing happens: this is the gallery.');
  return { ok: true };
});

const root = document.getElementById('page');
if (root) await start(root);

async function start(frame: HTMLElement): Promise<void> {
  const answer = await fetch('/gallery.json').catch(() => undefined);
  if (!answer?.ok) {
    render(<p class="waiting">There is no gallery here. `npm run sandbox` has one.</p>, frame);
    return;
  }
  const state = (await answer.json()) as GalleryState;
  changeScreen({ state: people(state) });
  render(<Gallery pieces={state.pieces} />, frame);
  const named = decodeURIComponent(location.hash.slice(1));
  document.getElementById(named)?.scrollIntoView();
}
