import type { PageView } from '../../../slack/page-api.ts';
import { Blocks } from '../blocks/block-view.tsx';
import { SurfaceContext } from '../elements/surface.ts';

/** The app's home tab, as the app published it. */
export function Home({ view, appName }: { readonly view: PageView | null; readonly appName: string }) {
  return (
    <section class="home" aria-label={`Home of ${appName}`}>
      {view ? (
        <SurfaceContext.Provider
          value={{ place: { view: view.id }, values: view.values, errors: view.errors }}
        >
          <Blocks blocks={view.blocks} />
        </SurfaceContext.Provider>
      ) : (
        <p class="beginning">
          {appName} hasn’t put anything here yet. Its commands work in every channel: type / under Messages.
        </p>
      )}
    </section>
  );
}
