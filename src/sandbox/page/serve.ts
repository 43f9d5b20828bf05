import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Rolldown } from 'vite';
import type { Pages } from '../slack/server.ts';

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

/** Bundles the page and makes the handler that serves it; pass it to `startSlack` as `pages`. */
export async function createPages(): Promise<Pages> {
  bundled ??= bundlePage();
  const files = await bundled;
  return (incoming, outgoing) => servePage(files, incoming, outgoing);
}

/** Addresses of pages, which show no file name. */
const PAGES = ['/', '/account', '/gallery'];

function servePage(
  files: ReadonlyMap<string, PageFile>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  const [path = '/'] = (incoming.url ?? '/').split('?');
  const file = files.get(PAGES.includes(path) ? '/index.html' : path);
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

interface PageFile {
  readonly contentType: string;
  readonly body: string;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

let bundled: Promise<ReadonlyMap<string, PageFile>> | undefined;

/**
 * The files of the page, by path. There is no separate build step: they are bundled at the start, which takes about a second.
 * @throws what the bundler throws, with the file and line that it does not understand
 */
async function bundlePage(): Promise<ReadonlyMap<string, PageFile>> {
  const { build } = await import('vite');
  const root = fileURLToPath(new URL('.', import.meta.url));
  const built = await build({
    root,
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'error',
    // The same page whatever NODE_ENV says.
    mode: 'production',
    define: { 'process.env.NODE_ENV': '"production"' },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rolldownOptions: { input: `${root}index.html` },
    },
  });
  const outputs = (Array.isArray(built) ? built : [built]) as Rolldown.RolldownOutput[];
  const files = outputs.flatMap(({ output }) => output);
  return new Map(files.map((file) => [`/${file.fileName}`, pageFile(file)]));
}

function pageFile(file: Rolldown.OutputChunk | Rolldown.OutputAsset): PageFile {
  const ending = file.fileName.split('.').at(-1) ?? '';
  return {
    contentType: TYPES[ending] ?? 'application/octet-stream',
    body: file.type === 'chunk' ? file.code : Buffer.from(file.source).toString('utf8'),
  };
}
