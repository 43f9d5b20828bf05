import { useEffect, useState } from 'preact/hooks';
import { objectsIn, textIn } from '../json.ts';

interface Link {
  readonly text: string;
  readonly href: string;
  readonly hint: string;
}

export interface Subcommand {
  /** "show <server>" */
  readonly usage: string;
  readonly summary: string;
}

/** What the sandbox adds to the local Slack: links, and subcommands to complete. */
export interface Extras {
  readonly links: readonly Link[];
  readonly subcommands: readonly Subcommand[];
}

const nothing: Extras = { links: [], subcommands: [] };
let loading: Promise<Extras> | undefined;

/** Reads the extras once; a local Slack without a sandbox has none. */
export function useExtras(): Extras {
  const [extras, setExtras] = useState(nothing);
  useEffect(() => {
    loading ??= readExtras();
    loading.then(setExtras);
  }, []);
  return extras;
}

async function readExtras(): Promise<Extras> {
  try {
    const answer = await fetch('/links.json');
    if (!answer.ok) return nothing;
    const found: unknown = await answer.json();
    return {
      links: objectsIn(found, 'links').map((each) => ({
        text: textIn(each, 'text'),
        href: textIn(each, 'href'),
        hint: textIn(each, 'hint'),
      })),
      subcommands: objectsIn(found, 'subcommands').map((each) => ({
        usage: textIn(each, 'usage'),
        summary: textIn(each, 'summary'),
      })),
    };
  } catch {
    return nothing;
  }
}
