import { indexLabels, type LabelIndex, splitRuns, type TextRun, toCompatible } from '../core/labels.ts';
import { isDeleted, type Server } from '../core/server.ts';

/** A part of a message: text that readers see, or the address of a link (perhaps the monitoring system's own). */
export interface MessagePart {
  readonly text: string;
  readonly isUrl: boolean;
}

/** A server that a message mentions. */
interface MentionedServer {
  readonly server: Server;
  readonly by: 'label' | 'ipv4' | 'id' | 'short_name';
  /** Only the address of a link names it. */
  readonly isOnlyInUrl: boolean;
}

/** Characters read of one message: more than any alert has, and few enough not to hold up other requests. */
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

interface ServerIndex {
  readonly byLabel: LabelIndex<Server>;
  readonly byShortLabel: ReadonlyMap<string, readonly Server[]>;
  readonly byIpv4: ReadonlyMap<string, readonly Server[]>;
  readonly byId: ReadonlyMap<string, readonly Server[]>;
}

function indexServers(servers: readonly Server[]): ServerIndex {
  const labels = servers.map((server) => ({ label: fold(toCompatible(server.label)), one: server }));
  return {
    byLabel: indexLabels(labels),
    byShortLabel: groupBy(labels, ({ label }) => shortNameOf(label)),
    byIpv4: groupBy(labels, ({ one }) => one.ipv4),
    byId: groupBy(labels, ({ one }) => String(one.id)),
  };
}

function groupBy<Entry extends { readonly one: Server }>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string | undefined,
): ReadonlyMap<string, readonly Server[]> {
  const groups = new Map<string, Server[]>();
  for (const entry of entries) {
    const key = keyOf(entry);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(entry.one);
    else groups.set(key, [entry.one]);
  }
  return groups;
}

/** Field names, as in `host:web-1` and `instance=web-1`, never count as servers, even if a server has such a label. */
const FIELD_NAMES =
  /^(?:host|hostname|instance|server|node|target|device|machine|vps|name|label|ip|address)$/;

/** Finds mentions word by word. */
function* findIn(text: string, index: ServerIndex, isUrl: boolean): Generator<MentionedServer> {
  const mention = (server: Server, by: MentionedServer['by']) => ({ server, by, isOnlyInUrl: isUrl });
  const runs = splitRuns(text);
  for (let at = 0; at < runs.length; at++) {
    const run = runs[at];
    if (!run || isFieldName(run, text)) continue;
    const labelled = index.byLabel.findAt(runs, at, text);
    if (labelled && (labelled.runs > 1 || isName(run.text) || isMarkedLabel(run, text))) {
      for (const server of labelled.found) yield mention(server, 'label');
      at += labelled.runs - 1;
      continue;
    }
    for (const server of index.byIpv4.get(run.text) ?? []) yield mention(server, 'ipv4');
    if (!isUrl && isMarkedId(run, text))
      for (const server of index.byId.get(run.text) ?? []) yield mention(server, 'id');
    for (const server of findByShortName(run.text, index)) yield mention(server, 'short_name');
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
function findByShortName(word: string, { byLabel, byShortLabel }: ServerIndex): readonly Server[] {
  const short = shortNameOf(word);
  const shortened = short !== undefined && isName(short) ? byLabel.find(short) : [];
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

/** The thread that a user acts in, or whose first message they act on. The outcome is announced there. */
export interface Thread {
  /** The `ts` of its first message. */
  readonly ts: string;
  /** Whether it has replies: only then does Slack show ephemeral messages in it (Slack, `chat.postEphemeral`). */
  readonly isOpen: boolean;
}
