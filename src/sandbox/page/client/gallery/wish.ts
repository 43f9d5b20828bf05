import { useEffect, useState } from 'preact/hooks';

/** How somebody wants to look at the gallery; it stands in the address, so that a view can be sent to others. */
export interface Wish {
  readonly filter: string;
  readonly theme: 'system' | 'light' | 'dark';
  readonly isNarrow: boolean;
}

/** Reads the wish from the address, and keeps it there. */
export function useWish(): readonly [Wish, (change: Partial<Wish>) => void] {
  const [wish, setWish] = useState(readWish);
  useEffect(() => {
    document.documentElement.classList.toggle('light', wish.theme === 'light');
    document.documentElement.classList.toggle('dark', wish.theme === 'dark');
    globalThis.history.replaceState(null, '', addressOf(wish));
  }, [wish]);
  return [wish, (change) => setWish({ ...wish, ...change })];
}

function readWish(): Wish {
  const query = new URLSearchParams(location.search);
  const theme = query.get('theme');
  return {
    filter: query.get('filter') ?? '',
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    isNarrow: query.get('width') === 'phone',
  };
}

function addressOf({ filter, theme, isNarrow }: Wish): string {
  const query = new URLSearchParams();
  if (filter !== '') query.set('filter', filter);
  if (theme !== 'system') query.set('theme', theme);
  if (isNarrow) query.set('width', 'phone');
  const words = query.toString();
  return `${location.pathname}${words ? `?${words}` : ''}${location.hash}`;
}
