import type { ComponentChildren } from 'preact';
import type { Json } from '../../../slack/page-api.ts';
import { isJson, objectIn, objectsIn, textIn } from '../json.ts';
import { type Inline, isFollowable, plainInline } from './inline.ts';
import { InlineView } from './inline-view.tsx';
import { Preformatted } from './preformatted.tsx';

/** A rich_text block, or the rich_text cell of a table. */
export function RichText({ block }: { readonly block: Json }) {
  return (
    <>
      {objectsIn(block, 'elements').map((part, index) => (
        <Part key={index} part={part} />
      ))}
    </>
  );
}

function Part({ part }: { readonly part: Json }) {
  const elements = objectsIn(part, 'elements');
  switch (part.type) {
    case 'rich_text_preformatted':
      return (
        <Preformatted>
          <Flow elements={elements} />
        </Preformatted>
      );
    case 'rich_text_quote':
      return (
        <blockquote>
          <Flow elements={elements} />
        </blockquote>
      );
    case 'rich_text_list':
      return <List part={part} items={elements} />;
    default:
      return (
        <div class="flow">
          <Flow elements={elements} />
        </div>
      );
  }
}

function List({ part, items }: { readonly part: Json; readonly items: readonly Json[] }) {
  const children: ComponentChildren = items.map((item, index) => (
    <li key={index}>
      <Flow elements={objectsIn(item, 'elements')} />
    </li>
  ));
  const indent = `indent-${typeof part.indent === 'number' ? Math.min(part.indent, 8) : 0}`;
  if (part.style !== 'ordered') return <ul class={indent}>{children}</ul>;
  const start = typeof part.offset === 'number' ? part.offset + 1 : 1;
  return (
    <ol class={indent} start={start}>
      {children}
    </ol>
  );
}

function Flow({ elements }: { readonly elements: readonly Json[] }) {
  return <InlineView parts={elements.map(inlineOf)} />;
}

function inlineOf(element: Json): Inline {
  const style = objectIn(element, 'style') ?? {};
  let inline = bareInline(element);
  if (style.code === true) inline = { type: 'code', children: [inline] };
  for (const [name, type] of [
    ['strike', 'strike'],
    ['italic', 'italic'],
    ['bold', 'bold'],
  ] as const)
    if (style[name] === true) inline = { type, children: [inline] };
  return inline;
}

function bareInline(element: Json): Inline {
  switch (element.type) {
    case 'link': {
      const url = textIn(element, 'url');
      const children = [plainInline(textIn(element, 'text') || url)];
      return isFollowable(url)
        ? { type: 'link', url, children }
        : plainInline(textIn(element, 'text') || url);
    }
    case 'emoji':
      return { type: 'emoji', name: textIn(element, 'name') };
    case 'user':
      return { type: 'user', id: textIn(element, 'user_id'), label: '' };
    case 'usergroup':
      return { type: 'group', id: textIn(element, 'usergroup_id'), label: '' };
    case 'channel':
      return { type: 'channel', id: textIn(element, 'channel_id'), label: '' };
    case 'broadcast':
      return { type: 'broadcast', range: textIn(element, 'range') };
    case 'date':
      return {
        type: 'date',
        seconds: Number(element.timestamp),
        format: textIn(element, 'format'),
        fallback: textIn(element, 'fallback'),
      };
    default:
      return plainInline(textIn(element, 'text') || textIn(element, 'value'));
  }
}

/** Whether a table's cell is rich text. */
export function isRichText(cell: unknown): cell is Json {
  return isJson(cell) && cell.type === 'rich_text';
}
