import { fileURLToPath } from 'node:url';
import type { Rolldown } from 'vite';
import { cacheBundle, findCachedBundle, hashSources } from './bundle-cache.ts';
import type { PageFile } from './page-file.ts';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The sandbox itself, and the gallery of everything that the app says. */
const ENTRIES = ['index.html', 'gallery.html'];

/**
 * The files of the page, by path. There is no separate build step: they are bundled at the
 * start whenever one of them has changed, which takes most of a second with loading the bundler.
 * @throws what the bundler throws, with the file and line that it does not understand
 */
export async function bundlePage(): Promise<ReadonlyMap<string, PageFile>> {
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
      rolldownOptions: { input: ENTRIES.map((entry) => root + entry) },
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
