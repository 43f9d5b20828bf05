import { useEffect, useState } from 'preact/hooks';
import { isJson, objectIn, objectsIn, textIn } from '../../../slack/json.ts';
import type { AtElement, Json, PageState } from '../../../slack/page-api.ts';
import { perform } from '../actions.ts';
import { plainWords } from '../text/view.tsx';

export interface OptionGroup {
  readonly label: string;
  readonly options: readonly Json[];
}

export interface Offer {
  readonly groups: readonly OptionGroup[];
  /** Instead of options: "Loading…", "Type at least 3 characters". */
  readonly note: string;
  /** The options are those for what is typed now. */
  readonly isFresh: boolean;
}

/** What the app offered, and for which typed text; undefined while it has not answered. */
interface Answer extends Pick<Offer, 'groups' | 'note'> {
  readonly query: string | undefined;
}

/** Slack's default for external selects. */
const MIN_QUERY_LENGTH = 3;
const TYPING_PAUSE_MS = 120;

const loading: Answer = { groups: [], note: 'Loading…', query: undefined };

/** The options of a menu that match what was typed; those of an external select come from the app. */
export function useOffer(element: Json, spot: AtElement, query: string, state: PageState | null): Offer {
  const isExternal = element.type === 'external_select';
  const answer = useAnswer(element, spot, query, isExternal);
  if (isExternal) return { ...answer, isFresh: answer.query === query };
  return offerOf(filterGroups(groupsOf(withOptions(element, state)), query));
}

/** Asks the app, a moment after the last key, for what fits; the answer before stays until the new one comes. */
function useAnswer(element: Json, spot: AtElement, query: string, isExternal: boolean): Answer {
  const [answer, setAnswer] = useState(loading);
  const min = typeof element.min_query_length === 'number' ? element.min_query_length : MIN_QUERY_LENGTH;
  useEffect(() => {
    if (!isExternal) return;
    if (query.length < min)
      return setAnswer({ ...loading, note: `Type at least ${min} character${min === 1 ? '' : 's'}` });
    setAnswer((known) => (known.groups.length > 0 ? known : loading));
    let isOver = false;
    const ask = async () => {
      const found = await askApp(spot, query);
      if (!isOver) setAnswer(found);
    };
    const timer = setTimeout(ask, query === '' ? 0 : TYPING_PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [isExternal, min, query, spot.block, spot.action]);
  return answer;
}

async function askApp(spot: AtElement, query: string): Promise<Answer> {
  const done = await perform({ do: 'suggest', ...spot, query });
  if (!done.ok) return { ...loading, note: done.words };
  const groups = groupsOf({ options: done.options, option_groups: done.optionGroups });
  return { ...offerOf(groups), query };
}

function filterGroups(groups: readonly OptionGroup[], query: string): readonly OptionGroup[] {
  const wanted = query.trim().toLowerCase();
  const fits = (option: Json) =>
    ['text', 'description'].some((field) => textIn(option[field], 'text').toLowerCase().includes(wanted));
  return groups
    .map(({ label, options }) => ({ label, options: options.filter(fits) }))
    .filter(({ options }) => options.length > 0);
}

function offerOf(groups: readonly OptionGroup[]): Offer {
  const note = groups.some(({ options }) => options.length > 0) ? '' : 'No results';
  return { groups, note, isFresh: true };
}

function groupsOf(element: Json): readonly OptionGroup[] {
  const grouped = objectsIn(element, 'option_groups').map((group) => ({
    label: plainWords(objectIn(group, 'label')),
    options: objectsIn(group, 'options'),
  }));
  const loose = objectsIn(element, 'options');
  return loose.length > 0 ? [{ label: '', options: loose }, ...grouped] : grouped;
}

/** Menus of users and conversations take their options from the workspace. */
function withOptions(element: Json, state: PageState | null): Json {
  if (!state) return element;
  const people = state.people
    .filter(({ isBot, isDeactivated }) => !isBot && !isDeactivated)
    .map(({ id, name, realName }) => makeOption(id, `@${name}`, realName));
  if (element.type === 'users_select') return { options: people };
  if (element.type === 'conversations_select') return { options: conversationsFor(element, state, people) };
  return element;
}

/** What the element's filter lets through; everything without one. */
function conversationsFor(element: Json, state: PageState, people: readonly Json[]): readonly Json[] {
  const filter = isJson(element.filter) ? element.filter : {};
  const isWanted = (kind: string) => !Array.isArray(filter.include) || filter.include.includes(kind);
  const channels = state.channels
    .filter(({ kind }) => kind !== 'dm' && isWanted(kind === 'private' ? 'private' : 'public'))
    .filter(({ kind }) => kind !== 'shared' || filter.exclude_external_shared_channels !== true)
    .map(({ id, name }) => makeOption(id, `#${name}`, ''));
  return isWanted('im') ? [...channels, ...people] : channels;
}

function makeOption(value: string, text: string, description: string): Json {
  const plain = (words: string) => ({ type: 'plain_text', text: words, emoji: false });
  return { value, text: plain(text), ...(description ? { description: plain(description) } : {}) };
}

/** All options that the element itself names, its groups' and the initial one among them. */
export function knownOptions(element: Json, state: PageState | null): readonly Json[] {
  const initial = objectIn(element, 'initial_option');
  const groups = groupsOf(withOptions(element, state)).flatMap(({ options }) => options);
  return initial ? [...groups, initial] : groups;
}
