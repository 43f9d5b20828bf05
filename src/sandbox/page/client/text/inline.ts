/** A piece of a line, as mrkdwn, markdown or rich text say it. */
export type Inline =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'bold' | 'italic' | 'strike'; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly children: readonly Inline[] }
  | { readonly type: 'link'; readonly url: string; readonly children: readonly Inline[] }
  | { readonly type: 'user' | 'channel' | 'group'; readonly id: string; readonly label: string }
  | { readonly type: 'broadcast'; readonly range: string }
  | { readonly type: 'date'; readonly seconds: number; readonly format: string; readonly fallback: string }
  | { readonly type: 'emoji'; readonly name: string };

export const plainInline = (text: string): Inline => ({ type: 'text', text });

/** Reads & < > back from their entities. */
export function decodeEntities(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Only these may be followed; anything else (`javascript:`) is shown as text. */
export function isFollowable(url: string): boolean {
  return /^(https?:\/\/|mailto:)/i.test(url);
}
