import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Rolldown } from 'vite';
import { z } from 'zod';
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

/** What the sandbox adds around the local Slack. */
export interface PageExtras {
  /** Shown at the top of the panel: the hosting account, for one. */
  readonly links?: readonly { readonly text: string; readonly href: string; readonly hint: string }[];
  /** Completed in the composer after the command: "show <server>". */
  readonly subcommands?: readonly { readonly usage: string; readonly summary: string }[];
}

/** Bundles the page and makes the handler that serves it; pass it to `startSlack` as `pages`. */
export async function createPages(extras: PageExtras = {}): Promise<Pages> {
  const files = await bundlePage();
  return (incoming, outgoing) => servePage(files, extras, incoming, outgoing);
}

/** Addresses of pages, which show no file name. */
const PAGES = ['/', '/account', '/gallery'];

function servePage(
  files: ReadonlyMap<string, PageFile>,
  extras: PageExtras,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  const [path = '/'] = (incoming.url ?? '/').split('?');
  const file =
    path === '/links.json' ? extrasFile(extras) : files.get(PAGES.includes(path) ? '/index.html' : path);
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

/** One file of the page, as the browser gets it. */
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

/**
 * The files of the page, by path. There is no separate build step: they are bundled at the
 * start whenever one of them has changed, which takes most of a second with loading the bundler.
 * @throws what the bundler throws, with the file and line that it does not understand
 */
async function bundlePage(): Promise<ReadonlyMap<string, PageFile>> {
  const root = fileURLToPath(new URL('.', import.meta.url));
  const key = hashSources(root);
  const built = findCachedBundle(key);
  if (built) return built;
  const files = await bundle(root);
  cacheBundle(key, files);
  return files;
}

async function bundle(root: string): Promise<ReadonlyMap<string, PageFile>> {
  const { build } = await import('vite');
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

/** Next to the packages, where other tools have their caches, too: `npm ci` deletes it. */
const FILE = fileURLToPath(new URL('../../../node_modules/.cache/vps-slack/page.json', import.meta.url));

const schema = z.strictObject({
  key: z.string(),
  files: z.array(z.tuple([z.string(), z.strictObject({ contentType: z.string(), body: z.string() })])),
});

/**
 * Everything that the page is made of: all files of its folder, and the packages that turn them into it.
 * A test holds that it imports nothing else from outside.
 */
export function hashSources(folder: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of files) hash.update(`${relative(folder, file)}\0`).update(readFileSync(file));
  const require = createRequire(import.meta.url);
  for (const name of ['vite', 'preact']) hash.update(readFileSync(require.resolve(`${name}/package.json`)));
  return hash.digest('hex');
}

/** Finds the page as it was bundled for this key; undefined when there is none, or it can't be read. */
export function findCachedBundle(key: string): ReadonlyMap<string, PageFile> | undefined {
  try {
    const built = schema.parse(JSON.parse(readFileSync(FILE, 'utf8')));
    return built.key === key ? new Map(built.files) : undefined;
  } catch {
    return undefined;
  }
}

/** Caches the page for the next start; if it can't be written, the next start bundles again. */
function cacheBundle(key: string, files: ReadonlyMap<string, PageFile>): void {
  const temporary = `${FILE}.${process.pid}`;
  try {
    mkdirSync(dirname(FILE), { recursive: true });
    writeFileSync(temporary, JSON.stringify({ key, files: [...files] }));
    renameSync(temporary, FILE);
  } catch {
    // The folder can't be written or the disk is full: the page works without the cache.
  }
}
