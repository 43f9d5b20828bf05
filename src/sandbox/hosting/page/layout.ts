import { type Html, html } from './html.ts';
import type { Note } from './notes.ts';
import { STYLE } from './style.ts';

/** A whole page around its content. */
export function layout(title: string, note: Note | undefined, content: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><title>${title} · sandbox hosting</title>${STYLE}</head>
<body><p class="dim"><a href="/account/">Accounts</a> · sandbox hosting, nothing here costs real money</p>
<h1>${title}</h1>${note && noteBox(note)}${content}</body></html>
`.text;
}

function noteBox(note: Note): Html {
  if (note.kind === 'problem') return html`<p class="box bad" role="alert">${note.words}</p>`;
  return html`<div class="box" role="status"><p class="good">A new API key. It is shown this once:</p>
<p><code class="key">${note.key}</code></p></div>`;
}

/** A moment of the service's clock, to the second, in UTC. */
export function time(atMs: number): string {
  return new Date(atMs).toISOString().replace('T', ' ').slice(0, 19);
}

/** A table that scrolls sideways by itself on a narrow screen; words instead when it has no rows. */
export function table(heads: readonly (string | Html)[], rows: readonly Html[], empty: string): Html {
  if (rows.length === 0) return html`<p class="dim">${empty}</p>`;
  const cells = heads.map((head) => (typeof head === 'string' ? html`<th>${head}</th>` : head));
  return html`<div class="wide"><table><thead><tr>${cells}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

/** The head of a column of amounts, which stand to the right. */
export function amountHead(words: string): Html {
  return html`<th class="amount">${words}</th>`;
}
