import type { Json } from './page-api.ts';

/** A command's fields, or an interaction's payload. */
export type DeliveryContent =
  | { readonly fields: Readonly<Record<string, string>> }
  | { readonly payload: Json };

/** The body of a form with this content. */
export function formOf(content: DeliveryContent): string {
  const fields = 'fields' in content ? content.fields : { payload: JSON.stringify(content.payload) };
  return new URLSearchParams(fields).toString();
}
