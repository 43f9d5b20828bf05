import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commands } from '../src/commands.ts';
import { parseConfig } from '../src/config.ts';
import { makeKey } from './support/keys.ts';
import { listSettings } from './support/settings.ts';

const readme = readFileSync('README.md', 'utf8');
const settings = readFileSync('docs/settings.md', 'utf8');
const forOperators = ['settings', 'deploy', 'account', 'slack', 'troubleshooting', 'servers'].map((page) =>
  readFileSync(`docs/${page}.md`, 'utf8'),
);

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
    const secrets = {
      SLACK_SIGNING_SECRET: 'x',
      SLACK_BOT_TOKEN: 'x',
      ENCRYPTION_KEYS: `k1:${makeKey('x')}`,
    };
    const taken: Readonly<Record<string, unknown>> = parseConfig({
      HOSTING_BASE_URL: 'https://a.test',
      ...secrets,
    });
    const chosen = ['HOSTING_BASE_URL', ...Object.keys(secrets)];
    const wrong = readTable('variable', settings).filter(([name = '', written = '']) => {
      const value = chosen.includes(name) ? '' : String(taken[name] ?? '');
      return written !== value;
    });
    expect(wrong).toEqual([]);
  });
});

describe('the README and the pages for operators', () => {
  const prose = [readme, ...forOperators].join('\n');

  it('starts only programs that exist', () => {
    const started = [...prose.matchAll(/`node ([\w./-]+)`/g)].map(([, path = '']) => path);
    expect(started.length).toBeGreaterThan(0);
    expect(started.filter((path) => !existsSync(path))).toEqual([]);
  });

  it('names only scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = [...prose.matchAll(/npm run (?:-s )?([a-z:-]+)/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(0);
    expect([...new Set(named)].filter((name) => !(name in scripts))).toEqual([]);
  });
});
