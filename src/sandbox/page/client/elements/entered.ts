import type { Entered, Json } from '../../../slack/page-api.ts';
import { objectIn, objectsIn } from '../json.ts';

const FIELDS: readonly string[] = [
  'value',
  'selected_user',
  'selected_conversation',
  'selected_channel',
  'selected_date',
  'selected_time',
  'selected_date_time',
  'selected_users',
  'selected_conversations',
  'selected_channels',
];

/** Reads Slack's state value back into what was entered. */
export function enteredOf(state: Json | undefined): Entered {
  if (!state) return null;
  const option = objectIn(state, 'selected_option');
  if (option) return String(option.value);
  if (Array.isArray(state.selected_options))
    return objectsIn(state, 'selected_options').map((each) => String(each.value));
  for (const field of FIELDS) {
    const value = state[field];
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    if (Array.isArray(value)) return value.map(String);
  }
  return null;
}

/** What was entered as a list: of one for single values, empty for nothing. */
export function listOf(entered: Entered): readonly string[] {
  if (entered === null || entered === '') return [];
  return typeof entered === 'string' ? [entered] : entered;
}
