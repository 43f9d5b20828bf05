import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** One import or re-export of a module. */
interface Import {
  /** The package, or the file below `src` that it leads to. */
  readonly target: string;
  readonly isPackage: boolean;
  /** Only types: nothing of it runs. */
  readonly isType: boolean;
}

/** One file below `src`. */
export interface Source {
  /** Below `src`, with `/`. */
  readonly path: string;
  /** The text without its comments. */
  readonly code: string;
  readonly imports: readonly Import[];
}

const IMPORT =
  /^(?:import|export)\s+(type\s+)?(?:([\w$*{][^;'"]*?)\s+from\s+)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;
const ONLY_TYPES = /^\{(?:\s*type\s[^,}]*,?)+\s*\}$/;
const COMMENTS = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;

/** Reads every source file of the app and of the sandbox. */
export function readSources(): readonly Source[] {
  return readdirSync('src', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mjs)$/.test(entry.name))
    .map((entry) =>
      readSource(join(entry.parentPath, entry.name).replaceAll('\\', '/').slice('src/'.length)),
    );
}

function readSource(path: string): Source {
  const code = readFileSync(`src/${path}`, 'utf8').replace(COMMENTS, '');
  return { path, code, imports: importsOf(path, code) };
}

function importsOf(path: string, code: string): Import[] {
  return [...code.matchAll(IMPORT)].map(([, type, names = '', named, lazy]) => {
    const target = named ?? lazy ?? '';
    const isType = type !== undefined || ONLY_TYPES.test(names);
    const isPackage = !target.startsWith('.');
    return {
      target: isPackage ? target : normalize(join(dirname(path), target)).replaceAll('\\', '/'),
      isPackage,
      isType,
    };
  });
}
