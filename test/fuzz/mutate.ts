import type { Dice } from '../support/tries.ts';

/** JSON text written by hand, for what `JSON.stringify` never writes. */
class Written {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Where something stands in a value: the names and indices on the way to it. */
export type Path = readonly (string | number)[];

const LONG = [1, 2, 255, 256, 3000, 3001, 20_000, 70_000] as const;
const DEEP = [3, 100, 101, 3000] as const;

const ODD_TEXTS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e1001\u202c',
  '\r\n\r\n',
  'e\u0301'.repeat(50),
  '👩‍👩‍👧‍👦'.repeat(30),
  '\u{e0001}\u{1f3f4}',
  '<!channel> <@U0OWNER001> <https://a.test|b>',
  '*_~`<&>|',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  'null',
  '1e400',
  '９００１',
  '2026-02-30T25:61:61Z',
  '{"id":1}',
  '%E0%A4%A',
];

const ODD_NUMBERS = [
  '-0',
  '-1',
  '1.5',
  '1e400',
  '9007199254740993',
  '123456789012345678901234567890',
  '1e21',
];

export function oddText(dice: Dice): string {
  const kind = dice.number(4);
  if (kind === 0) return 'x'.repeat(dice.pick(LONG) ?? 1);
  if (kind === 1)
    return String.fromCodePoint(...Array.from({ length: 1 + dice.number(40) }, () => dice.number(0x10ffff)));
  return dice.pick(ODD_TEXTS) ?? '';
}

function nested(levels: number, [open, close]: readonly [string, string]): Written {
  return new Written(`${open.repeat(levels)}1${close.repeat(levels)}`);
}

/** A value of any type, among them some that can only be written by hand. */
function oddValue(dice: Dice): unknown {
  const makers: readonly (() => unknown)[] = [
    () => null,
    () => true,
    () => false,
    () => [],
    () => ({}),
    () => [null],
    () => [[[[]]]],
    () => new Written(dice.pick(ODD_NUMBERS) ?? '0'),
    () => oddText(dice),
    () => oddText(dice),
    () => ({ [oddText(dice)]: oddText(dice) }),
    () => new Written('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"id":1}}}'),
    () => nested(dice.pick(DEEP) ?? 3, ['[', ']']),
    () => nested(dice.pick(DEEP) ?? 3, ['{"a":', '}']),
    () => Array.from({ length: 300 }, () => ({ id: 1 })),
  ];
  return dice.pick(makers)?.();
}

function listPaths(value: unknown, to: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || value instanceof Written) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = [...to, Array.isArray(value) ? Number(name) : name];
    return [path, ...listPaths(inner, path)];
  });
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), value);
}

function remove(holder: object, name: string | number): void {
  if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else Reflect.deleteProperty(holder, name);
}

/**
 * Takes out one field, gives it another type or another value, copies it to another place, or names it twice. JSON within a text is
 * changed within. Returns what was done.
 */
function mutateField(root: { value: unknown }, path: Path, dice: Dice): string {
  const { value } = root;
  const holder = at(value, path.slice(0, -1)) as object;
  const name = path.at(-1) ?? '';
  const where = path.join('.');
  const before = Reflect.get(holder, name);
  const kind = dice.number(12);
  const inner = kind < 6 && typeof before === 'string' ? readJson(before) : undefined;
  const within = dice.pick(listPaths(inner));
  if (within) {
    const inText = { value: inner };
    const done = mutateField(inText, within, dice);
    Reflect.set(holder, name, kind === 0 ? cut(writeJson(inText.value), dice) : writeJson(inText.value));
    return `${where}: ${done}`;
  }
  if (kind < 2) {
    remove(holder, name);
    return `${where} removed`;
  }
  if (kind < 4 && !Array.isArray(holder)) {
    const other =
      kind === 2
        ? (dice.pick(['__proto__', 'constructor', `${name} `, String(name).toUpperCase(), '']) ?? '')
        : name;
    const fields = Object.entries(holder).map(([each, one]) => ({
      each: kind === 2 && each === name ? other : each,
      one,
    }));
    if (kind === 3)
      fields.splice(dice.number(fields.length + 1), 0, { each: String(name), one: oddValue(dice) });
    const written = new Written(
      `{${fields.map(({ each, one }) => `${JSON.stringify(each)}:${writeJson(one)}`).join(',')}}`,
    );
    if (path.length === 1) root.value = written;
    else Reflect.set(at(value, path.slice(0, -2)) as object, path.at(-2) ?? '', written);
    return kind === 2 ? `${where} renamed to ${JSON.stringify(other)}` : `${where} named twice`;
  }
  if (kind === 4) {
    Reflect.set(holder, name, [before, before]);
    return `${where} twice, in a list`;
  }
  if (kind === 5 && typeof before === 'string') {
    const place = dice.number(before.length + 1);
    Reflect.set(holder, name, before.slice(0, place) + oddText(dice) + before.slice(place));
    return `${where} with something odd within`;
  }
  if (kind === 6 && typeof before !== 'object') {
    Reflect.set(holder, name, typeof before === 'string' ? Number(before) || 7 : String(before));
    return `${where} as another type`;
  }
  if (kind === 7) {
    const from = dice.pick(listPaths(value));
    // As text: a value within itself would never end.
    if (from) Reflect.set(holder, name, new Written(writeJson(at(value, from))));
    return `${where} from ${from?.join('.')}`;
  }
  Reflect.set(holder, name, oddValue(dice));
  return `${where} odd`;
}

/** Changes a value in so many places, and writes it as JSON. Says what was done. */
export function mutateJson(value: unknown, times: number, dice: Dice): { text: string; done: string[] } {
  const root = { value: structuredClone(value) };
  const done: string[] = [];
  for (let time = 0; time < times; time++) {
    const path = dice.pick(listPaths(root.value));
    if (path) done.push(mutateField(root, path, dice));
  }
  return { text: writeJson(root.value), done };
}

/** What can't be what it has to be: nothing, or something that is neither a text nor what stood there. */
const DESTROYED: readonly unknown[] = [undefined, null, true, 7, '', [], {}, [[]], { id: {} }];

/** Takes something away that a value can't do without, anywhere on these paths. JSON within a text is looked into. */
export function destroy(value: object, path: Path, dice: Dice): { value: object; done: string } {
  const copy = structuredClone(value);
  const steps = 1 + dice.number(path.length);
  const own = path.slice(0, steps);
  const holder = at(copy, own.slice(0, -1)) as object;
  const name = own.at(-1) ?? '';
  const before = Reflect.get(holder, name);
  const inner = typeof before === 'string' ? readJson(before) : undefined;
  // A form that was opened from Home has no channel.
  const paths = listPaths(inner).filter((one) => one.at(-1) !== 'channelId');
  const needed = dice.chance(0.7) ? dice.pick(paths) : undefined;
  if (inner !== undefined && needed) {
    setDestroyed(at(inner, needed.slice(0, -1)) as object, needed.at(-1) ?? '', dice);
    Reflect.set(holder, name, writeJson(inner));
  } else setDestroyed(holder, name, dice);
  return { value: copy, done: `${[...own, ...(needed ?? [])].join('.')} destroyed` };
}

function setDestroyed(holder: object, name: string | number, dice: Dice): void {
  const before = Reflect.get(holder, name);
  const isOther = (one: unknown) => typeof one !== typeof before || one === '';
  const destroyed = dice.pick(DESTROYED.filter(isOther));
  if (destroyed === undefined) remove(holder, name);
  else Reflect.set(holder, name, destroyed);
}

/** Damages a text: cut off, a part twice, a part gone, characters replaced. */
export function damage(text: string, dice: Dice): string {
  const from = dice.number(text.length + 1);
  const to = from + dice.number(Math.min(40, text.length - from + 1));
  switch (dice.number(5)) {
    case 0:
      return cut(text, dice);
    case 1:
      return text.slice(0, to) + text.slice(from);
    case 2:
      return text.slice(0, from) + text.slice(to);
    case 3:
      return text.slice(0, from) + oddText(dice) + text.slice(to);
    default:
      return text.slice(0, from) + String.fromCharCode(dice.number(256)) + text.slice(from + 1);
  }
}

function cut(text: string, dice: Dice): string {
  return text.slice(0, dice.number(text.length + 1));
}

function readJson(text: string): unknown {
  try {
    return /^[[{]/.test(text) ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes JSON, deep values and what is written by hand included. */
export function writeJson(value: unknown): string {
  if (value instanceof Written) return value.text;
  if (Array.isArray(value)) return `[${value.map((each) => writeJson(each)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{${fields.map(([name, one]) => `${JSON.stringify(name)}:${writeJson(one)}`).join(',')}}`;
}

/** A text as it stands in an address or in a form; half a character becomes a replacement. */
export function encodeText(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}
