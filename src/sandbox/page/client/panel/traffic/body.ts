import { maskJson, parse } from './mask.ts';

/**
 * A body as a user reads it: JSON indented, forms one field per line, the JSON inside them indented, too.
 * Secrets are masked.
 */
export function describeBody(body: string): string {
  const json = indent(body);
  if (json !== undefined) return json;
  if (!/^[\w.-]+=/.test(body)) return String(maskJson(body));
  return [...new URLSearchParams(body)]
    .map(([name, value]) => {
      const inside = indent(value);
      return inside === undefined ? `${name}: ${maskJson(value)}` : `${name}:\n${inside}`;
    })
    .join('\n');
}

/** Indented JSON; undefined when the text is no object and no list. */
function indent(text: string): string | undefined {
  const json = parse(text);
  return json === undefined ? undefined : JSON.stringify(maskJson(json), null, 2);
}
