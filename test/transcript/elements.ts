type Json = Readonly<Record<string, unknown>>;

const MOST_OPTIONS = 8;

/** What a reader finds out only by pressing: what buttons ask and where they lead, and what menus offer. */
export function describeElements(blocks: unknown): readonly string[] {
  const found: string[] = [];
  const look = (part: unknown): void => {
    if (Array.isArray(part)) for (const each of part) look(each);
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return;
    found.push(...describe(part as Json));
    for (const each of Object.values(part)) look(each);
  };
  look(blocks);
  return found;
}

function describe(element: Json): readonly string[] {
  const label = `[${textIn(element.text) || textIn(element.placeholder)}]`;
  const { confirm, url, type, options } = element;
  const lines: string[] = [];
  if (isJson(confirm)) {
    const words = [confirm.title, confirm.text].map(textIn).join(' | ');
    lines.push(`${label} asks: ${words} [${textIn(confirm.deny)}] [${textIn(confirm.confirm)}]`);
  }
  if (type === 'button' && typeof url === 'string') lines.push(`${label} leads to ${url}`);
  if (String(type).endsWith('static_select') && Array.isArray(options)) {
    const texts = options.map((option: Json) => textIn(option.text));
    const rest = texts.length > MOST_OPTIONS ? ` … (${texts.length})` : '';
    lines.push(`${label} offers: ${texts.slice(0, MOST_OPTIONS).join(' / ')}${rest}`);
  }
  return lines;
}

function isJson(part: unknown): part is Json {
  return typeof part === 'object' && part !== null;
}

function textIn(part: unknown): string {
  return isJson(part) ? String(part.text ?? '').replace(/\s*\n\s*/g, ' / ') : '';
}
