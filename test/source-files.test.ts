import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSources, type Source } from './support/sources.ts';

const sources = readSources();
const app = sources.filter(({ path }) => !path.startsWith('sandbox/'));

/** Where the pattern matches, outside of the places where it belongs. */
function listMatches(among: readonly Source[], pattern: RegExp, belongs: readonly string[] = []): string[] {
  return among
    .filter(({ path }) => !belongs.some((place) => path === place || path.startsWith(place)))
    .flatMap(({ path, code }) => (code.match(pattern) ?? []).map((found) => `${path}: ${found.trim()}`));
}

describe('every source file', () => {
  it('is named in kebab-case', () => {
    const odd = sources.filter(({ path }) =>
      path.split('/').some((part) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.(ts|tsx|mjs))?$/.test(part)),
    );
    expect(odd.map(({ path }) => path)).toEqual([]);
  });

  it('has a name that says something', () => {
    const empty = /(^|[/-])(utils?|helpers?|common|misc|managers?|data|info|cfg|ctx)([-.]|$)/;
    const paths = sources.map(({ path }) => path.replace('data-table', ''));
    expect(paths.filter((path) => empty.test(path))).toEqual([]);
  });

  it('exports by name', () => {
    expect(listMatches(sources, /\bexport default\b|\bas default\b/g)).toEqual([]);
  });

  it('is typed: no any, and no error that is silenced', () => {
    expect(listMatches(sources, /:\s*any\b|\bas any\b|<any>|\bany\[\]/g)).toEqual([]);
    const silenced = (among: readonly Source[], pattern: RegExp) =>
      among.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
    expect(silenced(sources, /@ts-(ignore|nocheck|expect-error)/)).toEqual([]);
    expect(silenced(app, /biome-ignore/)).toEqual([]);
  });

  it('reads what was stored and what was thrown through a check, not through a cast', () => {
    expect(listMatches(app, /JSON\.parse\([^;\n]*\)\s*as\s+(?!unknown)\w+/g)).toEqual([]);
    expect(listMatches(app, /\(error as (?!unknown)[^)]*\)/g)).toEqual([]);
  });

  it('leaves out what is undefined in one way', () => {
    const spread = /\.\.\.\([^;]*?(?:\?\s*\{\}\s*:|:\s*\{\}\s*\))/g;
    expect(listMatches(app, spread)).toEqual([]);
  });

  it('uses the field’s terms, not our own', () => {
    const ours =
      /\b(?:knock\w*|visits?|visitors?|scenes?|bench|workbench|turns|lackOf\w*|telling|teller|reaches|sheets?|inDoubt|needsPerson)\b/g;
    const identifiers = app.map((source) => ({ ...source, code: withoutStrings(source.code) }));
    expect(listMatches(identifiers, ours)).toEqual([]);
    // A column keeps the name that it was released with.
    expect(listMatches(identifiers, /\bdeeds?\b/g, ['store/'])).toEqual([]);
  });

  it('says nothing on the console: the app logs, and programs write to standard output or error', () => {
    expect(listMatches(sources, /\bconsole\.\w+/g)).toEqual([]);
  });

  it('imports with the ending of the file', () => {
    const endless = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ isPackage, target }) => !isPackage && !/\.(ts|tsx|js|css)$/.test(target))
        .map(({ target }) => `${path} imports ${target}`),
    );
    expect(endless).toEqual([]);
  });

  it('holds no path of one machine', () => {
    expect(listMatches(sources, /(?<![\w.$}])\/(work|home|Users|tmp|root|mnt)\/[\w.-]+/g)).toEqual([]);
  });
});

describe('every test', () => {
  it('waits as long as test/support/eventually.ts does, rather than the second of vi.waitFor', () => {
    const impatient = readdirSync('test', { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && entry.name !== 'eventually.ts')
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => /\bvi\.wait(?:For|Until)\(/.test(readFileSync(path, 'utf8')));
    expect(impatient).toEqual([]);
  });
});

/** What users read is held to other rules than what the code calls things. */
function withoutStrings(code: string): string {
  return code.replace(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, "''");
}
