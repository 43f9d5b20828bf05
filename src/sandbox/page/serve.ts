import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Pages } from '../slack/server.ts';
import { bundlePage } from './bundle.ts';
import type { PageFile } from './page-file.ts';

/**
 * The page shows what an app sends, and an app may send anything: nothing inline runs, nothing is
 * fetched from another server, and no text can ever become markup.
 */
const POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "trusted-types 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/** What the sandbox adds around the local Slack. */
export interface PageExtras {
  /** Shown at the top of the panel: the hosting account, for one. */
  readonly links?: readonly { readonly text: string; readonly href: string; readonly hint: string }[];
  /** Completed in the composer after the command: "show <server>". */
  readonly subcommands?: readonly { readonly usage: string; readonly summary: string }[];
}

/**
 * Bundles the page and makes the handler that serves it; pass it to `startSlack` as `pages`.
 * `extras` is called whenever a page is opened, since addresses may be known only later.
 */
export async function createPages(extras: () => PageExtras = () => ({})): Promise<Pages> {
  const files = await bundlePage();
  return (incoming, outgoing) => servePage(files, extras, incoming, outgoing);
}

/** Addresses of pages, which show no file name. */
const PAGES: Readonly<Record<string, string>> = { '/': '/index.html', '/gallery': '/gallery.html' };

function servePage(
  files: ReadonlyMap<string, PageFile>,
  extras: () => PageExtras,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  const [path = '/'] = (incoming.url ?? '/').split('?');
  const file = path === '/links.json' ? extrasFile(extras()) : files.get(PAGES[path] ?? path);
  const isReading = incoming.method === 'GET' || incoming.method === 'HEAD';
  if (!file || !isReading) {
    outgoing.writeHead(file ? 405 : 404, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' });
    outgoing.end(file ? 'read only' : 'not found');
    return;
  }
  outgoing.writeHead(200, {
    ...HEADERS,
    'content-type': file.contentType,
    // Names of scripts and styles change with their content.
    'cache-control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-store',
  });
  outgoing.end(incoming.method === 'HEAD' ? undefined : file.body);
}

function extrasFile(extras: PageExtras): PageFile {
  return { contentType: 'application/json; charset=utf-8', body: JSON.stringify(extras) };
}
