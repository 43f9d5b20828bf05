import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const lock = z.object({
  packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })),
});

/** Whether it is a binary for another platform: a dozen megabytes, which npm would take seconds to pack. */
function isForeign(file: string): boolean {
  const [, platform] = /\/prebuilds\/([^/]+)/.exec(file) ?? [];
  return platform !== undefined && platform !== `${process.platform}-${process.arch}`;
}

/** Copies what `npm ci --omit=dev` installs on this platform. */
export async function copyPackages(target: string): Promise<void> {
  const { packages } = lock.parse(JSON.parse(await readFile('package-lock.json', 'utf8')));
  for (const [path, { dev }] of Object.entries(packages)) {
    if (path === '' || dev || path.split('node_modules/').length !== 2) continue;
    const filter = (file: string) => !packages[file]?.dev && !isForeign(file);
    const to = join(target, path.replace('node_modules/', ''));
    await cp(path, to, { recursive: true, filter }).catch((error: NodeJS.ErrnoException) => {
      // For other platforms.
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

/** Copies the sources that the app is built from. */
export async function copySources(paths: readonly string[], target: string): Promise<void> {
  // As .dockerignore has it.
  const filter = (file: string) => !file.startsWith('src/sandbox');
  for (const path of paths) await cp(path, join(target, path), { recursive: true, filter });
}

/** The user "node" of the image. */
export const NODE_USER = 1000;
export const canBeOther = process.getuid?.() === 0;

/** A command as that user, without rights, where the tests may become another user. */
export function asOther(...command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (!canBeOther) return command;
  const user = [`--reuid=${NODE_USER}`, `--regid=${NODE_USER}`, '--clear-groups'];
  return ['setpriv', ...user, '--no-new-privs', ...command];
}
