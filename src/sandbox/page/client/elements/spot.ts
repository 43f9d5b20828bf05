import { createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { isJson, objectIn, textIn } from '../../../slack/json.ts';
import type { AtElement, Entered, Json, PagePlace, PageValues, Texts } from '../../../slack/page-api.ts';
import { performWithNotice } from '../actions.ts';
import { confirmed, findDraft, getScreen, setDraft, useScreen } from '../state.ts';

/** A message, a modal or the home tab: where blocks stand and what is entered in them. */
interface Surface {
  readonly place: PagePlace;
  readonly values: PageValues;
  /** Errors below inputs, by block_id. */
  readonly errors: Texts;
}

export const SurfaceContext = createContext<Surface>({ place: { view: '' }, values: {}, errors: {} });

export interface ElementProps {
  readonly block: Json;
  readonly element: Json;
  readonly labelId?: string;
  /** Of the hint and the error below, for inputs. */
  readonly describedBy?: string;
  readonly isWrong?: boolean;
}

/** Pending fills: requests to the app wait for them, so that it sees the newest state. */
const underWay = new Set<Promise<unknown>>();

/** Waits until the server knows everything that was entered so far. */
export async function settleFills(): Promise<void> {
  await Promise.all(underWay);
}

/** An element of the surface around it: what is entered, and what a user can do with it. */
export function useSpot(block: Json, element: Json) {
  const surface = useContext(SurfaceContext);
  const [isBusy, setBusy] = useState(false);
  const spot: AtElement = {
    place: surface.place,
    block: textIn(block, 'block_id'),
    action: textIn(element, 'action_id'),
  };
  const draft = useScreen((screen) => findDraft(screen, spot));
  const entered = draft === undefined ? enteredOf(surface.values[spot.block]?.[spot.action]) : draft;
  const isInput = block.type === 'input';
  const act = (value?: Entered) => press(spot, element, value, setBusy);
  return {
    spot,
    entered,
    isBusy,
    isInput,
    act,
    /** Enters a value: into an input it is stored until the form is submitted; any other element sends it to the app now. */
    enter: (value: Entered): Promise<void> => (isInput ? fill(spot, value) : act(value)),
    fill: (value: Entered) => fill(spot, value),
    /** Stores what is typed, without sending it yet. */
    keep: (value: Entered) => setDraft(spot, value),
  };
}

/** Presses it, or chooses from it; asks first when the app wants that. */
async function press(
  spot: AtElement,
  element: Json,
  value: Entered | undefined,
  setBusy: (isBusy: boolean) => void,
): Promise<void> {
  const dialog = objectIn(element, 'confirm');
  const isHeld = value !== undefined;
  const before = findDraft(getScreen(), spot);
  const takeBack = () => isHeld && setDraft(spot, before);
  if (dialog && !(await confirmed(dialog))) return void takeBack();
  if (isHeld) setDraft(spot, value);
  setBusy(true);
  await settleFills();
  const chosen = value === undefined ? {} : { value };
  const done = await performWithNotice({ do: 'action', ...spot, ...chosen, confirmed: true });
  setBusy(false);
  if (!done.ok) takeBack();
}

async function fill(spot: AtElement, value: Entered): Promise<void> {
  setDraft(spot, value);
  const sending = performWithNotice({ do: 'fill', ...spot, value });
  underWay.add(sending);
  await sending.finally(() => underWay.delete(sending));
}

/** Reads Slack's state value back into what was entered: besides its type, it has one field. */
export function enteredOf({ type: _type, ...fields }: Json = {}): string | null {
  const [value = null] = Object.values(fields);
  // An option stands for its value.
  return value === null ? null : String(isJson(value) ? value.value : value);
}
