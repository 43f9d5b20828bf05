import { useEffect, useState } from 'preact/hooks';

/** Filter, theme and width of the gallery; they are part of the address, so that a view can be shared. */
export interface ViewOptions {
  readonly filter: string;
  readonly theme: 'system' | 'light' | 'dark';
  readonly isNarrow: boolean;
}

/** Reads the options from the address, and writes changes back to it. */
export function useViewOptions(): readonly [ViewOptions, (change: Partial<ViewOptions>) => void] {
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
