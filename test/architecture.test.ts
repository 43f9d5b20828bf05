import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSources, type Source } from './support/sources.ts';

const sources = readSources();
const app = sources.filter(({ path }) => !path.startsWith('sandbox/'));
const isIn = (path: string, places: readonly string[]) =>
  places.some((place) => path === place || (place.endsWith('/') && path.startsWith(place)));

/** What each part that knows no feature imports of the product. Types may come from anywhere: they do nothing. */
const USES: Readonly<Record<string, readonly string[]>> = {
  'core/': ['core/', 'system.ts', 'log.ts'],
  'hosting/': ['hosting/', 'core/', 'system.ts'],
  // `open-store.ts` puts the features' queries together. Moving and restoring a store also have to know what an order is.
  'db/open-store.ts': ['*'],
  'db/': ['db/', 'core/', 'system.ts', 'log.ts', 'purchases/'],
  'slack/': ['slack/', 'core/', 'words.ts', 'system.ts', 'log.ts'],
  'web/': ['web/', 'core/', 'account/', 'system.ts', 'log.ts'],
  // The services that we test against share nothing with what is tested but Slack's published limits.
  'sandbox/slack/': ['sandbox/slack/', 'slack/kit/blocks.ts'],
  'sandbox/hosting/': ['sandbox/hosting/'],
};

/** Which features use which other ones. A new line here is a decision; `requests` carries out what the others ask for. */
const FEATURES: Readonly<Record<string, readonly string[]>> = {
  access: ['requests', 'home'],
  account: ['purchases', 'requests'],
  home: ['access', 'account', 'purchases', 'reminders', 'requests', 'servers'],
  installations: ['access', 'account'],
  purchases: ['account', 'installations', 'requests', 'servers'],
  reminders: ['account', 'purchases', 'requests', 'servers'],
  requests: ['access', 'account', 'purchases', 'servers'],
  servers: ['access', 'account', 'purchases', 'requests'],
  workflows: ['account', 'servers'],
};

/** The places that have what matches, other than those where it belongs. */
function strays(among: readonly Source[], pattern: RegExp, belongs: readonly string[]): string[] {
  return among
    .filter(({ path }) => !isIn(path, belongs))
    .flatMap(({ path, code }) => (code.match(pattern) ?? []).map((found) => `${path}: ${found.trim()}`));
}

/** The files of the product that a file imports values from. */
const usedBy = ({ imports }: Source) =>
  imports.filter(({ isPackage, isType }) => !isPackage && !isType).map(({ target }) => target);

describe('imports', () => {
  it.each(Object.entries(USES))('go from %s only to %j', (part, uses) => {
    const own = sources.filter(({ path }) => isIn(path, [part]) && (path === part || !(path in USES)));
    const wrong = own.flatMap((source) =>
      usedBy(source)
        .filter((target) => !uses.includes('*') && !isIn(target, uses))
        .map((target) => `${source.path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
    expect(own).not.toEqual([]);
  });

  it.each(Object.entries(FEATURES))('go from the feature %s only to the features %j', (feature, others) => {
    const known = Object.keys(FEATURES);
    const own = app.filter(({ path }) => path.startsWith(`${feature}/`));
    const used = own.flatMap(usedBy).map((target) => target.split('/')[0] ?? '');
    const wrong = used.filter((name) => known.includes(name) && name !== feature && !others.includes(name));
    expect([...new Set(wrong)]).toEqual([]);
    expect(own).not.toEqual([]);
  });

  it('go from core/ to no package that reaches outside', () => {
    const harmless = ['node:crypto', 'node:util', 'fastest-levenshtein'];
    const packages = sources
      .filter(({ path }) => isIn(path, ['core/']))
      .flatMap(({ imports }) => imports.filter(({ isPackage }) => isPackage).map(({ target }) => target));
    expect(packages.filter((name) => !harmless.includes(name))).toEqual([]);
  });

  it('never go from the app to the sandbox', () => {
    const wrong = app.filter(({ imports }) => imports.some(({ target }) => target.startsWith('sandbox/')));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('form no circle', () => {
    expect(findCircles(sources)).toEqual([]);
  });
});

describe('a screen', () => {
  it('reaches the app’s parts only through the one entry, since a request doesn’t carry them', () => {
    const request = app.find(({ path }) => path === 'slack/request.ts')?.code ?? '';
    expect(request).toContain('interface SlackRequest');
    expect(strays(app, /\brequest\.(app|ports)\b/g, [])).toEqual([]);
  });
});

describe('nothing is unused:', () => {
  const tests = readdirSync('test', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => ({
      path: `${entry.parentPath}/${entry.name}`,
      code: readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8'),
    }));
  const words = [...sources, ...tests].map(({ path, code }) => ({
    path,
    words: new Set(code.match(/[\w$]+/g) ?? []),
  }));

  it('every export is named in another file', () => {
    const isUsed = (name: string, by: string) =>
      words.some(({ path, words: all }) => path !== by && all.has(name));
    const unused = app.flatMap(({ path, code }) =>
      [...code.matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) ([\w$]+)/gm)]
        .map(([, name = '']) => name)
        .filter((name) => !isUsed(name, path))
        .map((name) => `${path}: ${name}`),
    );
    expect(unused).toEqual([]);
  });

  it('every file is imported, or is where a program starts', () => {
    const imported = new Set(sources.flatMap(({ imports }) => imports.map(({ target }) => target)));
    const starts =
      /^(main\.ts|start\.mjs|cli\/main\.ts|sandbox\/(main|check-messages|hosting\/main)\.ts|sandbox\/page\/client\/(gallery\/)?main\.tsx)$/;
    const alone = sources.map(({ path }) => path).filter((path) => !imported.has(path) && !starts.test(path));
    const byTests = tests.map(({ code }) => code).join('\n');
    expect(alone.filter((path) => !byTests.includes(`src/${path}`))).toEqual([]);
  });

  it('every dependency is imported', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const imported = app.flatMap(({ imports }) => imports.map(({ target }) => target));
    const unused = Object.keys(dependencies).filter(
      (name) => !imported.some((target) => target === name || target.startsWith(`${name}/`)),
    );
    expect(unused).toEqual([]);
  });
});

describe('the build of the app', () => {
  it('contains nothing of the sandbox', () => {
    const maps = readdirSync('dist', { recursive: true }).filter((path) => String(path).endsWith('.map'));
    const built = maps.flatMap((path): string[] => JSON.parse(readFileSync(`dist/${path}`, 'utf8')).sources);
    expect(built.length).toBeGreaterThan(200);
    expect(built.filter((path) => path.includes('src/sandbox'))).toEqual([]);
  });
});

/** The files from which imports of values lead back to themselves. */
function findCircles(among: readonly Source[]): string[] {
  const targets = new Map(among.map((source) => [source.path, usedBy(source)]));
  const isReached = (from: string): boolean => {
    const seen = new Set<string>();
    const open = [...(targets.get(from) ?? [])];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (path === from) return true;
      if (seen.has(path)) continue;
      seen.add(path);
      open.push(...(targets.get(path) ?? []));
    }
    return false;
  };
  return [...targets.keys()].filter(isReached);
}

describe('confined code:', () => {
  const importersOf = (name: string) =>
    app.filter(({ imports }) => imports.some(({ target }) => target === name)).map(({ path }) => path);

  it('the environment is read only where programs start', () => {
    // In quotes it is a word that the page's bundler replaces.
    const read = /(?<!')\bprocess\.env\b/g;
    expect(
      strays(sources, read, ['main.ts', 'cli/', 'sandbox/main.ts', 'sandbox/check-messages.ts']),
    ).toEqual([]);
  });

  it.each([
    ['undici', ['cli/doctor-slack.ts', 'hosting/send.ts', 'slack/slack-api.ts']],
    ['@slack/web-api', ['slack/bolt.ts', 'slack/slack-api.ts', 'slack/tokens.ts']],
  ])('%s, which reaches the network, is used only in %j', (name, places) => {
    expect(importersOf(name).sort()).toEqual([...places].sort());
  });

  it('transactions are started only by the engine, which retries them', () => {
    // A check that the database answers must not be in the way of what it checks.
    const belongs = ['db/'];
    expect(strays(app, /\.transaction\(\)/g, belongs)).toEqual([]);
    expect(strays(app, /\.transact\(/g, []).length).toBeGreaterThan(10);
  });

  it('no other module reaches the network', () => {
    const ways =
      /\bfetch\(|\bnew WebSocket\b|\bhttps?\.(request|get)\(|from 'node:(https|dgram|tls|http2|dns)'/g;
    expect(strays(app, ways, ['hosting/send.ts', 'slack/slack-api.ts'])).toEqual([]);
  });

  it('time, IDs and randomness come only from the injected system', () => {
    const real =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bset(Timeout|Interval|Immediate)\b|\brandom(Bytes|UUID|Int)\b|\bperformance\.now\b|\bprocess\.hrtime\b|\bAbortSignal\.timeout\b|node:timers/g;
    const allowed: Readonly<Record<string, string>> = {
      'system.ts': 'it is the one door to them',
      'db/vault.ts': 'a nonce that a test could choose would not be one: randomBytes',
      'db/api-calls.ts':
        'gathers what is written in one turn of the event loop: setImmediate, no time passes',
      'slack/http-receiver.ts': 'compares the time of a signature with the machine’s clock: Date.now',
      'slack/slack-api.ts': 'gives up on Slack after 5 s: AbortSignal.timeout, which undici takes',
    };
    expect(strays(app, real, Object.keys(allowed))).toEqual([]);
    expect(strays(app, real, ['system.ts']).sort()).toEqual(
      [
        'slack/slack-api.ts: AbortSignal.timeout',
        'db/api-calls.ts: setImmediate',
        'slack/http-receiver.ts: Date.now',
        'db/vault.ts: randomBytes',
        'db/vault.ts: randomBytes',
      ].sort(),
    );
  });

  it('secrets are revealed only in listed places', () => {
    const places = app.filter(({ code }) => code.includes('.reveal()')).map(({ path }) => path);
    expect(places.sort()).toEqual(
      [
        'account/connect.ts',
        'account/keys.ts',
        'cli/doctor-slack.ts',
        'db/kept.ts',
        'db/vault.ts',
        'hosting/send.ts',
        'installations/store.ts',
        'purchases/passwords.ts',
        'purchases/password-store.ts',
        'purchases/spill.ts',
        'slack/http-receiver.ts',
        'slack/slack-api.ts',
        'slack/socket.ts',
        'slack/tokens.ts',
        'web/metrics.ts',
        'workflows/store.ts',
        'workflows/workflow.ts',
      ].sort(),
    );
  });
});
