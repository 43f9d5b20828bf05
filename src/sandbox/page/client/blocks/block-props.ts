import type { Json } from '../../../slack/page-api.ts';

/** What every view of a block is given. */
export interface BlockProps {
  readonly block: Json;
}
