import type { MessagePart } from '../../domain/mentioned-servers.ts';
import { decodeText } from '../kit/text.ts';

/** Far more than any alert has: what comes after is not read. */
const MOST_PARTS = 2000;
const MOST_CHARACTERS = 60_000;
const MOST_DEPTH = 12;

type Json = Readonly<Record<string, unknown>>;

/**
 * Collects what a message says, wherever alert tools put it: its text, its blocks, and of each attachment title, text,
 * fields, blocks and the rest. Addresses of links come apart, since they may be those of the monitoring system.
 */
export function collectParts(message: unknown): readonly MessagePart[] {
  const collector = createCollector();
  if (isJson(message)) collectMessage(message, collector, 0);
  return collector.parts();
}

interface Collector {
  /** Text in Slack's markup. */
  add(text: unknown): void;
  addUrl(url: unknown): void;
  isFull(): boolean;
  parts(): readonly MessagePart[];
}

function createCollector(): Collector {
  const texts: MessagePart[] = [];
  const urls: MessagePart[] = [];
  let characters = 0;
  const isFull = () => texts.length + urls.length >= MOST_PARTS || characters >= MOST_CHARACTERS;
  const push = (list: MessagePart[], text: string, isUrl: boolean) => {
    if (text.trim() === '' || isFull()) return;
    const kept = text.slice(0, MOST_CHARACTERS - characters);
    characters += kept.length;
    list.push({ text: kept, isUrl });
  };
  const addUrl = (url: unknown) => {
    if (typeof url === 'string') push(urls, decodeAddress(url), true);
  };
  return {
    addUrl,
    add: (text) => {
      if (typeof text === 'string') push(texts, takeLinks(text.slice(0, MOST_CHARACTERS), addUrl), false);
    },
    isFull,
    parts: () => [...texts, ...urls],
  };
}

/** What readers see of a text: the words of links, without references to users, groups, channels and times. */
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

function collectMessage(message: Json, collector: Collector, depth: number): void {
  if (depth > MOST_DEPTH) return;
  collector.add(message.text);
  collectBlocks(message.blocks, collector, depth);
  for (const attachment of listOf(message.attachments)) {
    if (collector.isFull()) return;
    for (const field of ['title', 'pretext']) collector.add(attachment[field]);
    // An attachment may be a whole message that was shared.
    collectMessage(attachment, collector, depth + 1);
    for (const field of listOf(attachment.fields))
      collector.add(`${textOf(field.title)}: ${textOf(field.value)}`);
    for (const field of ['author_name', 'author_subname', 'footer', 'fallback'])
      collector.add(attachment[field]);
    for (const link of ['title_link', 'author_link', 'from_url', 'original_url'])
      collector.addUrl(attachment[link]);
    collectBlocks(attachment.message_blocks, collector, depth + 1);
  }
}

const RICH_TEXT = /^rich_text_(?:section|preformatted|quote)$/;

/** Whatever the block: everything in it that is called a text, and addresses. */
function collectBlocks(part: unknown, collector: Collector, depth: number): void {
  if (depth > MOST_DEPTH || collector.isFull()) return;
  if (Array.isArray(part)) {
    for (const each of part) collectBlocks(each, collector, depth + 1);
    return;
  }
  if (!isJson(part)) return;
  if (typeof part.type === 'string' && RICH_TEXT.test(part.type)) {
    collectRichText(listOf(part.elements), collector);
    return;
  }
  for (const [name, value] of Object.entries(part)) {
    if (typeof value === 'object') collectBlocks(value, collector, depth + 1);
    else if (['text', 'title', 'subtitle', 'description', 'alt_text'].includes(name)) collector.add(value);
    else if (/(^|_)url$/.test(name)) collector.addUrl(value);
  }
}

/** Neighbors belong together: a name may be half bold. */
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

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
