import { parseArgs } from 'node:util';
import { type AnswerStyleChange, DIALECT } from './answers.ts';
import type { HostingOptions } from './hosting.ts';

/** `errorShape` as `error-shape`. */
const flagOf = (trait: string) => trait.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const DIALECT_LINES = Object.entries(DIALECT).map(
  ([trait, spoken]) => `  --${flagOf(trait).padEnd(16)}${spoken.join(' | ')}`,
);

export const HELP = `npm run hosting -- [options]

  --port PORT       the port (default 4100); 0 takes any free one
  --max-servers N   the most servers in an account (default 5000)
  --rate N          requests per minute (default 300)
  --rate-counting   sliding_log | fixed_window
  --page-size N     servers on a page (default 50); needs --paging
  --help            show this help

How it answers where docs/hosting-api.md has an open question, or where a service may differ from it; the first is the default:

${DIALECT_LINES.join('\n')}
`;

const text = { type: 'string' } as const;

/** Reads the command line; undefined when the help is wanted. @throws RangeError, TypeError with a sentence for the person who typed it */
export function parseOptions(typed: readonly string[]): HostingOptions | undefined {
  const traits = Object.fromEntries(Object.keys(DIALECT).map((trait) => [flagOf(trait), text]));
  const { values } = parseArgs({
    args: [...typed],
    options: {
      port: { type: 'string', default: '4100' },
      'max-servers': text,
      rate: text,
      'rate-counting': text,
      'page-size': text,
      help: { type: 'boolean' },
      ...traits,
    },
  });
  if (values.help === true) return undefined;
  const counting = values['rate-counting'];
  if (counting !== undefined && counting !== 'sliding_log' && counting !== 'fixed_window')
    throw new RangeError('--rate-counting is sliding_log or fixed_window.');
  const maxServers = parseCount('max-servers', values['max-servers']);
  const requestsPerMinute = parseCount('rate', values.rate);
  const pageSize = parseCount('page-size', values['page-size']);
  const answers = { ...parseDialect(values), ...(pageSize !== undefined && { pageSize }) };
  return {
    port: parsePort(values.port),
    answers,
    ...(maxServers !== undefined && { maxServers }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(counting !== undefined && { rateCounting: counting }),
  };
}

/** Picks the traits of a dialect out of named values; what is left out stays as it is. @throws RangeError */
export function parseDialect(values: Readonly<Record<string, unknown>>, nameOf = flagOf): AnswerStyleChange {
  const chosen = Object.entries(DIALECT).flatMap(([trait, spoken]) => {
    const value = values[nameOf(trait)];
    if (value === undefined || value === null || value === '') return [];
    const word = spoken.find((one) => one === value);
    if (word === undefined)
      throw new RangeError(`${nameOf(trait)} is one of ${spoken.join(', ')}, not "${String(value)}".`);
    return [[trait, word]];
  });
  return Object.fromEntries(chosen);
}

function parseCount(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !/^[1-9]\d{0,6}$/.test(value))
    throw new RangeError(`--${name} is a whole number above zero, not "${String(value)}".`);
  return Number(value);
}

function parsePort(value: unknown): number {
  const port = Number(value);
  if (typeof value !== 'string' || !/^\d{1,5}$/.test(value) || port > 65_535)
    throw new RangeError(`"${String(value)}" is not a port; give a number from 0 to 65535 after --port.`);
  return port;
}
