import { useEffect, useReducer } from 'preact/hooks';
import type { Entered, Json, PagePlace, PageView } from '../../../slack/page-api.ts';

/** Where an input is. */
export interface Spot {
  readonly place: PagePlace;
  readonly block: string;
  readonly action: string;
}

interface Draft {
  readonly value: Entered;
  /** The server knows it. */
  readonly isSent: boolean;
}

/**
 * What was entered on this page. As in Slack it stays when the app updates the view or the message, as
 * long as block and element keep their IDs; it is sent to the server, but the server's events don't restore it.
 */
const drafts = new Map<string, Draft>();
/** Options chosen from an external select: only the app knows their texts. */
const options = new Map<string, Json>();
const listeners = new Set<(key: string) => void>();

/** One text for a place: of a view, or of a message. */
const placeKey = (place: PagePlace) => ('view' in place ? place.view : `${place.channel}/${place.ts}`);
const keyOf = ({ place, block, action }: Spot) => JSON.stringify([placeKey(place), block, action]);

/** Stores what was entered; `undefined` removes it. */
export function setDraft(spot: Spot, value: Entered | undefined, isSent = false): void {
  const key = keyOf(spot);
  if (value === undefined) drafts.delete(key);
  else drafts.set(key, { value, isSent });
  for (const listener of [...listeners]) listener(key);
}

/** What was entered here; undefined when nothing was. */
export function findDraft(spot: Spot): Entered | undefined {
  return drafts.get(keyOf(spot))?.value;
}

/** The same as a hook: the component is redrawn when it changes. */
export function useDraft(spot: Spot): Entered | undefined {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const key = keyOf(spot);
  useEffect(() => {
    const listener = (changed: string) => {
      if (changed === key) redraw(0);
    };
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, [key]);
  return findDraft(spot);
}

/** What was entered into a view and not sent to the server yet: block_id -> action_id -> entered. */
export function unsentOf(view: PageView): Record<string, Record<string, Entered>> {
  const unsent: Record<string, Record<string, Entered>> = {};
  for (const [block, actions] of Object.entries(view.values)) {
    for (const action of Object.keys(actions)) {
      const draft = drafts.get(keyOf({ place: { view: view.id }, block, action }));
      if (draft && !draft.isSent) unsent[block] = { ...unsent[block], [action]: draft.value };
    }
  }
  return unsent;
}

/** Remembers the words of an option that was chosen. */
export function rememberOption(spot: Spot, option: Json): void {
  options.set(`${keyOf(spot)} ${String(option.value)}`, option);
}

/** The option with that value that was chosen here. */
export function findOption(spot: Spot, value: string): Json | undefined {
  return options.get(`${keyOf(spot)} ${value}`);
}

/** Forgets everything, when the user changes or the client is reloaded. */
export function forgetDrafts(): void {
  drafts.clear();
  options.clear();
}
