import { createContext } from 'preact';
import type { Json, PagePlace, PageValues } from '../../../slack/page-api.ts';

/** A message, a modal or the home tab: where blocks stand and what is entered in them. */
export interface Surface {
  readonly place: PagePlace;
  readonly values: PageValues;
  /** Errors below inputs, by block_id. */
  readonly errors: Readonly<Record<string, string>>;
}

export const SurfaceContext = createContext<Surface>({ place: { view: '' }, values: {}, errors: {} });

/** An element within its block. */
export interface ElementProps {
  readonly block: Json;
  readonly element: Json;
  /** Of the label, for inputs. */
  readonly labelId?: string;
  /** Of the hint and the error below, for inputs. */
  readonly describedBy?: string;
  readonly isWrong?: boolean;
}
