import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { PageFile } from './page-file.ts';

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
export function cacheBundle(key: string, files: ReadonlyMap<string, PageFile>): void {
  const temporary = `${FILE}.${process.pid}`;
  try {
    mkdirSync(dirname(FILE), { recursive: true });
    writeFileSync(temporary, JSON.stringify({ key, files: [...files] }));
    renameSync(temporary, FILE);
  } catch {
    // The folder can't be written or the disk is full: the page works without the cache.
  }
}
