import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../src/commands.ts';
import { parseConfig } from '../src/config.ts';
import { listSettings, makeKey } from './support/environment.ts';

/** One text file of the project. */
interface TextFile {
  readonly path: string;
  readonly text: string;
}

const TEXT = /\.(ts|tsx|mjs|md|css|html)$/;

function readFolder(folder: string): readonly TextFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && TEXT.test(entry.name))
    .map((entry) => readText(join(entry.parentPath, entry.name)));
}

function readText(path: string): TextFile {
  return { path: path.replaceAll('\\', '/'), text: readFileSync(path, 'utf8') };
}

const files = [
  ...['src', 'test', 'docs'].flatMap(readFolder),
  ...['README.md', 'CHANGELOG.md', 'SECURITY.md', 'CONTRIBUTING.md'].map(readText),
];
const documents = files.filter(({ path }) => path.endsWith('.md') && !path.startsWith('test/'));

const NUMBER = /\d+(?:\.\d+)*/g;
const HEADING = /^#{1,6} +(.+?) *$/gm;

/** The numbers of a document's headings (`## 4. …`) and paragraphs (`**4.3** …`). */
function listNumbers(text: string): readonly string[] {
  const prose = withoutFences(text);
  const found = prose.matchAll(/^(?:#{1,6} +(\d+(?:\.\d+)*)\.? |(?:- )?\*\*(\d+(?:\.\d+)+)\b)/gm);
  return [...found].map(([, heading, paragraph]) => heading ?? paragraph ?? '');
}

/**
 * What a text says about documents that isn't there: `docs/<file>.md`, alone or with numbers after it
 * ("4.3", "2 and 3", "4 to 8"). A reference may be broken over two lines of a comment.
 */
function listDanglingReferences(text: string): readonly string[] {
  const line = text.replace(/\s*\n\s*(?:\*(?!\*)|\/\/)?\s*/g, ' ');
  const references = line.matchAll(
    /\bdocs\/([\w./-]+?\.md)\b((?: ?(?:,|and|to|or)? \d+(?:\.\d+)*(?![\w-]))*)/g,
  );
  return [...references].flatMap(([, file = '', numbers = '']) => {
    const path = `docs/${file}`;
    if (!existsSync(path)) return [path];
    const known = listNumbers(readFileSync(path, 'utf8'));
    const wanted = numbers.match(NUMBER) ?? [];
    return wanted.filter((number) => !known.includes(number)).map((number) => `${path} ${number}`);
  });
}

/** The relative links of a document that lead to no file, or to no heading of it. */
function listDanglingLinks({ path, text }: TextFile): readonly string[] {
  const prose = withoutFences(text).replace(/`[^`\n]*`/g, '');
  const found = prose.matchAll(/\]\(([^()\s]+)\)|<img src="([^"]+)"/g);
  const targets = [...found].map(([, link, picture]) => link ?? picture ?? '');
  return targets.filter((target) => !/^[a-z]+:/i.test(target) && !leadsSomewhere(target, path));
}

function leadsSomewhere(target: string, from: string): boolean {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? from : normalize(join(dirname(from), file));
  if (!existsSync(path)) return false;
  return anchor === undefined || (path.endsWith('.md') && listAnchors(path).includes(anchor));
}

/** The anchors that GitHub gives to a document's headings. */
function listAnchors(path: string): readonly string[] {
  return [...withoutFences(readFileSync(path, 'utf8')).matchAll(HEADING)].map(([, heading = '']) => {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    return plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
  });
}

function withoutFences(text: string): string {
  return text.replace(/^ *```[\s\S]*?^ *```/gm, '');
}

describe('the docs', () => {
  it('contain every section that code, tests and other docs refer to', () => {
    const references = files.filter(({ text }) => /\bdocs\/[\w./-]+\.md\b/.test(text));
    expect(references.length).toBeGreaterThan(3);
    const dangling = references.flatMap(({ path, text }) =>
      listDanglingReferences(text).map((reference) => `${path}: ${reference}`),
    );
    expect(dangling).toEqual([]);
  });

  it('have no dead links', () => {
    expect(documents.length).toBeGreaterThan(15);
    const dangling = documents.flatMap((document) =>
      listDanglingLinks(document).map((link) => `${document.path}: ${link}`),
    );
    expect(dangling).toEqual([]);
  });

  it('name only files and folders that exist', () => {
    const prose = documents.filter(({ path }) => path === 'README.md' || path.startsWith('docs/'));
    const named = prose.flatMap(({ path, text }) =>
      [...text.matchAll(/`((?:src|test|docs)\/[\w./-]+)`/g)].map(([, file = '']) => ({ path, file })),
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(({ file }) => !existsSync(file))).toEqual([]);
  });
});

const readme = readFileSync('README.md', 'utf8');
const settings = readFileSync('docs/settings.md', 'utf8');
const forOperators = [
  'settings',
  'deploy',
  'operating',
  'account',
  'slack',
  'troubleshooting',
  'servers',
].map((page) => readFileSync(`docs/${page}.md`, 'utf8'));

/** The rows of the table whose header begins with this word; cells without their code marks. */
function readTable(word: string, text = readme): readonly (readonly string[])[] {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${word} |`));
  if (start < 0) throw new Error(`no table begins with "| ${word} |"`);
  const rest = lines.slice(start + 2);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, end < 0 ? rest.length : end).map((line) =>
    line
      .slice(1, line.lastIndexOf('|'))
      .split(/(?<!\\)\|/)
      .map((cell) =>
        cell
          .trim()
          .replaceAll('\\|', '|')
          .replace(/^`(.*)`$/, '$1'),
      ),
  );
}

describe('the README', () => {
  it('lists every command with its role and what it does, in the order of help', () => {
    expect(readTable('command')).toEqual(
      commands.map(({ usage, needs, summary }) => [`/vps ${usage}`, needs, summary]),
    );
  });
});

describe('the page of settings', () => {
  it('lists every setting and no others', () => {
    expect(readTable('variable', settings).map(([name]) => name)).toEqual(listSettings());
  });

  it('names the actual defaults', () => {
    const chosen = {
      HOSTING_BASE_URL: 'https://a.test',
      SLACK_SIGNING_SECRET: 'x',
      SLACK_BOT_TOKEN: 'x',
      ENCRYPTION_KEYS: `k1:${makeKey('x')}`,
    };
    const taken: Readonly<Record<string, unknown>> = parseConfig(chosen);
    const wrong = readTable('variable', settings).filter(([name = '', written = '']) => {
      const value = name in chosen ? '' : String(taken[name] ?? '');
      return written !== value;
    });
    expect(wrong).toEqual([]);
  });
});

describe('the README and the pages for operators', () => {
  const prose = [readme, ...forOperators].join('\n');

  it('names only scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = [...prose.matchAll(/npm run (?:-s )?([a-z:-]+)/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(0);
    expect([...new Set(named)].filter((name) => !(name in scripts))).toEqual([]);
  });
});
