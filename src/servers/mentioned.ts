import { defineUseCase } from '../core/entry.ts';
import { toCompatible } from '../core/labels.ts';
import { isDeleted, type Server } from '../core/server.ts';
import { decodeText } from '../slack/kit/text.ts';

/** A part of a message: text that readers see, or the address of a link (perhaps the monitoring system's own). */
interface MessagePart {
  readonly text: string;
  readonly isUrl: boolean;
}

/** How deep messages are read: far deeper than any alert's, and no further than the stack holds. */
const MOST_DEPTH = 20;

type Json = Readonly<Record<string, unknown>>;

/**
 * Collects the text of a message from everywhere that alert tools put it: its text, its blocks, and the fields and blocks of its
 * attachments. Addresses of links are separate parts, at the end, since they may be the monitoring system's.
 */
export function collectParts(message: unknown): readonly MessagePart[] {
  const texts: MessagePart[] = [];
  const urls: MessagePart[] = [];
  const addUrl = (url: unknown) => {
    if (typeof url === 'string') urls.push({ text: decodeAddress(url), isUrl: true });
  };
  const add = (text: unknown) => {
    if (typeof text === 'string') texts.push({ text: takeLinks(text, addUrl), isUrl: false });
  };
  // The rest is about who posted it, and where.
  const { text, blocks, attachments } = isJson(message) ? message : {};
  collect({ text, blocks, attachments }, { add, addUrl }, 0);
  return [...texts, ...urls].filter(({ text }) => text.trim() !== '');
}

interface Collector {
  add(text: unknown): void;
  addUrl(url: unknown): void;
}

/** The text that readers see: with the words of links, without addresses and references to users, groups, channels and times. */
function takeLinks(text: string, addUrl: (url: string) => void): string {
  const shown = text.replace(/<([^<>]{0,3000})>/g, (whole, inside: string) => {
    if (/^[@#!]/.test(inside)) return ' ';
    if (!/^(?:https?:|mailto:|tel:|ftp:)/i.test(inside)) return whole;
    const [url = '', ...label] = inside.split('|');
    addUrl(url);
    return label.length === 0 ? ' ' : ` ${label.join('|')} `;
  });
  const withoutAddresses = shown.replace(/\b[a-z][a-z+.-]{1,20}:\/\/[^\s<>"'`|)\]]+/gi, (url) => {
    addUrl(url);
    return ' ';
  });
  return decodeText(withoutAddresses.replace(/(^|\s):[a-z0-9_+'-]+:(?=\s|$)/g, '$1'));
}

function decodeAddress(url: string): string {
  const address = decodeText(url);
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

const RICH_TEXT = /^rich_text_(?:section|preformatted|quote)$/;
const TEXT =
  /^(?:text|title|subtitle|description|alt_text|pretext|author_name|author_subname|footer|fallback)$/;
const ADDRESS = /(?:^|_)(?:url|link)$/;

/** Collects texts and addresses from any part of a message, by the names of their fields. */
function collect(part: unknown, collector: Collector, depth: number): void {
  if (depth > MOST_DEPTH) return;
  if (Array.isArray(part)) for (const each of part) collect(each, collector, depth + 1);
  if (!isJson(part)) return;
  const { type, title, value, elements } = part;
  if (typeof type === 'string' && RICH_TEXT.test(type)) {
    collectRichText(Array.isArray(elements) ? elements.filter(isJson) : [], collector);
    return;
  }
  if (typeof title === 'string' && typeof value === 'string') {
    // A field of an attachment: its title says what its value is.
    collector.add(`${title}: ${value}`);
    return;
  }
  for (const [name, inside] of Object.entries(part)) {
    if (typeof inside === 'object') collect(inside, collector, depth + 1);
    else if (TEXT.test(name)) collector.add(inside);
    else if (ADDRESS.test(name)) collector.addUrl(inside);
  }
}

/** Joins neighboring elements, since a name may be half bold. */
function collectRichText(elements: readonly Json[], collector: Collector): void {
  const words = elements.map(({ type, text, url }) => {
    if (type === 'text') return textOf(text);
    if (type !== 'link') return ' ';
    collector.addUrl(url);
    return textOf(text) || ' ';
  });
  collector.add(words.join(''));
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

interface MentionedServer {
  readonly server: Server;
  readonly by: 'label' | 'ipv4' | 'id' | 'short_name';
  /** Only the address of a link names it. */
  readonly isOnlyInUrl: boolean;
}

/** Characters searched in one message: more than any alert has, and few enough not to hold up other requests. */
const MOST_CHARACTERS = 10_000;

/** Ranks of the ways to name a server, the most certain first. A name found only in an address ranks after all others. */
const RANK = { label: 0, ipv4: 1, id: 2, short_name: 3 } as const;
const URL_RANK = 4;

/**
 * Finds the servers that a message mentions, the most certain first (label, IPv4 address, ID, host name without its domain),
 * those found only in addresses of links last, and otherwise in the order of the message.
 */
export function findMentionedServers(
  parts: readonly MessagePart[],
  servers: readonly Server[],
): readonly MentionedServer[] {
  const present = servers.filter((server) => !isDeleted(server));
  const index = indexServers(present);
  const found = new Map<number, MentionedServer>();
  let characters = MOST_CHARACTERS;
  for (const { text, isUrl } of parts) {
    const read = foldWithin(text, characters);
    characters -= Math.max(read.length, Math.min(text.length, characters));
    for (const mention of findIn(read, index, isUrl)) keepBest(mention, found);
    if (characters <= 0) break;
  }
  return [...found.values()].sort((a, b) => rankOf(a) - rankOf(b));
}

type ServerIndex = ReturnType<typeof indexServers>;

/** Letters, digits, and what joins them in host names: "web-1.example.com" is one run, "web 1" are two. */
const RUN = /[\p{L}\p{N}](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}])?/gu;

/** One run of a text, and its position in UTF-16 code units. */
interface TextRun {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function splitRuns(text: string): readonly TextRun[] {
  return [...text.matchAll(RUN)].map((match) => ({
    text: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** Labels of more runs aren't looked for. */
const MOST_RUNS = 12;

/** Indexes servers, so that they are found in a text with a few lookups for each word, however many servers there are. */
function indexServers(servers: readonly Server[]) {
  const all = servers.map((server) => {
    const label = fold(toCompatible(server.label));
    return { server, label, runs: splitRuns(label) };
  });
  const labeled = all.filter(({ runs }) => runs.length > 0 && runs.length <= MOST_RUNS);
  return {
    byLabel: groupBy(labeled, ({ label }) => label),
    byRuns: groupBy(labeled, ({ runs }) => keyOf(runs)),
    /** How many runs labels have, the most first. */
    lengths: [...new Set(labeled.map(({ runs }) => runs.length))].sort((a, b) => b - a),
    byShortLabel: groupBy(all, ({ label }) => shortNameOf(label)),
    byIpv4: groupBy(all, ({ server }) => server.ipv4),
    byId: groupBy(all, ({ server }) => String(server.id)),
  };
}

function keyOf(runs: readonly TextRun[]): string {
  return runs.map(({ text }) => text).join(' ');
}

function groupBy<Item>(items: readonly Item[], nameOf: (item: Item) => string | undefined) {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = nameOf(item);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** Finds the servers with the longest label that begins at run `at` and matches whole runs, and how many runs it has. */
function findLabelAt(runs: readonly TextRun[], at: number, text: string, { byRuns, lengths }: ServerIndex) {
  const start = runs[at]?.start ?? 0;
  for (const length of lengths) {
    if (at + length > runs.length) continue;
    const same = byRuns.get(keyOf(runs.slice(at, at + length))) ?? [];
    const found = same.filter(({ label, runs: [first] }) =>
      text.startsWith(label, start - (first?.start ?? 0)),
    );
    if (found.length > 0) return { found, runs: length };
  }
  return undefined;
}

/** Field names, as in `host:web-1` and `instance=web-1`, never count as servers, even if a server has such a label. */
const FIELD_NAMES =
  /^(?:host|hostname|instance|server|node|target|device|machine|vps|name|label|ip|address)$/;

function* findIn(text: string, index: ServerIndex, isUrl: boolean): Generator<MentionedServer> {
  const mention = (server: Server, by: MentionedServer['by']) => ({ server, by, isOnlyInUrl: isUrl });
  const runs = splitRuns(text);
  for (let at = 0; at < runs.length; at++) {
    const run = runs[at];
    if (!run || isFieldName(run, text)) continue;
    const labeled = findLabelAt(runs, at, text, index);
    if (labeled && (labeled.runs > 1 || isName(run.text) || isMarkedLabel(run, text))) {
      for (const { server } of labeled.found) yield mention(server, 'label');
      at += labeled.runs - 1;
      continue;
    }
    for (const { server } of index.byIpv4.get(run.text) ?? []) yield mention(server, 'ipv4');
    if (!isUrl && isMarkedId(run, text))
      for (const { server } of index.byId.get(run.text) ?? []) yield mention(server, 'id');
    for (const { server } of findByShortName(run.text, index)) yield mention(server, 'short_name');
  }
}

function isFieldName({ text: word, end }: TextRun, text: string): boolean {
  return /^[:=]\S/.test(text.slice(end, end + 2)) && FIELD_NAMES.test(word);
}

/** Whether a word can be a label by itself. A single character or a plain number is too common: "42" is in "42% full". */
function isName(word: string): boolean {
  return [...word].length > 1 && !/^[\d.,]+$/.test(word);
}

/** Characters between a field's name and its value, Slack's formatting included. */
const MARKS = '[\\s:=#*_`"]';
const LABEL_MARK = new RegExp(
  `(?:^|[^\\p{L}\\p{N}_-])(?:label|hostname|host|server name)${MARKS}{1,5}$`,
  'u',
);
const SERVER_ID_MARK = new RegExp(
  `(?:^|[^\\p{L}\\p{N}])(?:(?:server|vps|instance|host|machine)[\\s_-]?id${MARKS}{0,5}|(?:server|vps)\\s*#)$`,
  'u',
);
/** Matches "ID 42" by itself; "alert ID 42" is the ID of something else. */
const ID_MARK = new RegExp(`(?:^|\\n|[^\\p{L}\\p{N}\\s_-])[^\\S\\n]*id${MARKS}{1,5}$`, 'u');
const MARK_LENGTH = 40;

function isMarkedLabel({ start, end }: TextRun, text: string): boolean {
  return LABEL_MARK.test(text.slice(Math.max(0, start - MARK_LENGTH), start)) && !isAmount(text, end);
}

/** Whether the text calls this number the ID of a server. Any other number is an amount, a port or a count. */
function isMarkedId({ text: word, start, end }: TextRun, text: string): boolean {
  if (!/^\d+$/.test(word) || isAmount(text, end)) return false;
  const before = text.slice(Math.max(0, start - MARK_LENGTH), start);
  return SERVER_ID_MARK.test(before) || ID_MARK.test(before);
}

function isAmount(text: string, end: number): boolean {
  return /^\s?(?:%|°|[.,]\d)/.test(text.slice(end, end + 3));
}

/** Finds `web-1` by `web-1.example.com`, and a server with the label `web-1.example.com` by `web-1`. */
function findByShortName(word: string, { byLabel, byShortLabel }: ServerIndex) {
  const short = shortNameOf(word);
  const shortened = short !== undefined && isName(short) ? (byLabel.get(short) ?? []) : [];
  return [...shortened, ...(isName(word) ? (byShortLabel.get(word) ?? []) : [])];
}

/** The part of a host name before its first dot; undefined for numbers, addresses and names without dots. */
function shortNameOf(name: string): string | undefined {
  const [short = '', ...domain] = name.split('.');
  const isHost = domain.length > 0 && /\p{L}/u.test(short) && domain.every((part) => part !== '');
  return isHost && /^[\p{L}\p{N}_.-]+$/u.test(name) && /\p{L}/u.test(domain.at(-1) ?? '') ? short : undefined;
}

function keepBest(mention: MentionedServer, found: Map<number, MentionedServer>): void {
  const before = found.get(mention.server.id);
  if (!before || rankOf(mention) < rankOf(before)) found.set(mention.server.id, mention);
}

function rankOf({ by, isOnlyInUrl }: MentionedServer): number {
  return RANK[by] + (isOnlyInUrl ? URL_RANK : 0);
}

/** Folds the beginning of a text as labels are. Cuts after each step, since one letter can become eighteen. */
function foldWithin(text: string, most: number): string {
  return fold(text.slice(0, most).normalize('NFKC').slice(0, most)).slice(0, most);
}

/** Folds text as `isSameLabel` does, with every run of spaces as one space. */
function fold(compatible: string): string {
  return compatible
    .toLowerCase()
    .replace(/[^\S\n]+/g, ' ')
    .trim();
}

/**
 * Finds the servers that a message mentions, among those that the actor's roles cover. `isOnly`: it surely means that one, and no
 * other server of the account. Changes nothing.
 */
export const findMentioned = defineUseCase({
  name: 'show',
  needs: 'viewer',
  effect: 'reads',
  run: async (
    { parts }: { readonly parts: readonly MessagePart[] },
    context,
  ): Promise<{ readonly servers: readonly Server[]; readonly isOnly: boolean }> => {
    const hosting = await context.hosting();
    const list = await hosting.fetchServers();
    const mentioned = findMentionedServers(parts, list.servers);
    const seen = mentioned.filter(({ server }) => context.covers(server.label));
    // A name that is only in a link, or only a short one, may mean the monitoring system.
    const isSure = mentioned.every(({ by, isOnlyInUrl }) => by !== 'short_name' && !isOnlyInUrl);
    return { servers: seen.map(({ server }) => server), isOnly: mentioned.length === 1 && isSure };
  },
});
