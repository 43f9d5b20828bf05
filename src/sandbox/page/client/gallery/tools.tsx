import type { ViewOptions } from './view-options.ts';

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
export function GalleryTools({ options, change, shown, all }: GalleryToolsProps) {
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
      <fieldset class="segments">
        <legend class="visually-hidden">Light or dark</legend>
        {THEMES.map(([theme, words]) => (
          <label key={theme} class="segment">
            <input
              type="radio"
              name="theme"
              class="visually-hidden"
              checked={theme === options.theme}
              onChange={() => change({ theme })}
            />
            {words}
          </label>
        ))}
      </fieldset>
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
