import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSources, type Source } from './support/sources.ts';

const sources = readSources();
const app = sources.filter(({ path }) => !path.startsWith('sandbox/'));
const isIn = (path: string, places: readonly string[]) =>
  places.some((place) => path === place || (place.endsWith('/') && path.startsWith(place)));

/** What each part of the product imports of it: users' screens, the database and the hosting service know each other through use cases. */
const USES: Readonly<Record<string, readonly string[]>> = {
  'domain/': ['domain/'],
  'app/': ['app/', 'domain/', 'system.ts', 'log.ts'],
  'hosting/': ['hosting/', 'app/', 'domain/', 'system.ts'],
  'store/': ['store/', 'app/', 'domain/', 'system.ts', 'vault.ts'],
  'slack/': ['slack/', 'app/', 'domain/', 'system.ts', 'log.ts', 'vault.ts'],
  'web/': ['web/', 'app/', 'domain/', 'system.ts', 'log.ts'],
  // The services that we test against share nothing with what is tested but Slack's published limits.
  'sandbox/slack/': ['sandbox/slack/', 'slack/kit/limits.ts'],
  'sandbox/hosting/': ['sandbox/hosting/'],
};

/** The places that have what matches, other than those where it belongs. */
function strays(among: readonly Source[], pattern: RegExp, belongs: readonly string[]): string[] {
  return among
    .filter(({ path }) => !isIn(path, belongs))
    .flatMap(({ path, code }) => (code.match(pattern) ?? []).map((found) => `${path}: ${found.trim()}`));
}

describe('the direction of imports', () => {
  it.each(Object.entries(USES))('leads from %s to %j alone', (part, uses) => {
    const own = sources.filter(({ path }) => isIn(path, [part]));
    const wrong = own.flatMap(({ path, imports }) =>
      imports
        .filter(({ isPackage, target }) => !isPackage && !isIn(target, uses))
        .map(({ target }) => `${path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
    expect(own).not.toEqual([]);
  });

  it('leads from the domain to no package that reaches outside', () => {
    const harmless = ['node:util', 'fastest-levenshtein'];
    const packages = sources
      .filter(({ path }) => isIn(path, ['domain/']))
      .flatMap(({ imports }) => imports.filter(({ isPackage }) => isPackage).map(({ target }) => target));
    expect(packages.filter((name) => !harmless.includes(name))).toEqual([]);
  });

  it('never leads into the sandbox, which is not built either', () => {
    const wrong = app.filter(({ imports }) => imports.some(({ target }) => target.startsWith('sandbox/')));
    expect(wrong.map(({ path }) => path)).toEqual([]);
    expect(JSON.parse(readFileSync('tsconfig.build.json', 'utf8')).exclude).toContain('src/sandbox');
  });

  it('never leads in a circle, not even for types', () => {
    expect(findCircles(sources)).toEqual([]);
  });
});

describe('a Slack feature', () => {
  it('does not import what the use cases work with, so that the one entry checks every act', () => {
    const knowing = app.filter(({ code }) => /\bAppPorts\b/.test(code)).map(({ path }) => path);
    expect(knowing.sort()).toEqual([
      'app/ports.ts',
      'compose.ts',
      'slack/create-slack.ts',
      'slack/transport/request-parts.ts',
      'slack/transport/request.ts',
    ]);
  });
});

describe('the build', () => {
  it('contains nothing of the sandbox', () => {
    const built = readdirSync('dist', { recursive: true }).map(String);
    expect(built.length).toBeGreaterThan(200);
    expect(built.filter((path) => /sandbox|gallery|block-kit/.test(path))).toEqual([]);
  });
});

/** The ways through the imports that come back to where they began. */
function findCircles(among: readonly Source[]): string[] {
  const targets = new Map(among.map(({ path, imports }) => [path, imports.map(({ target }) => target)]));
  const done = new Set<string>();
  const findCircle = (path: string, way: readonly string[]): string | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path].join(' → ');
    if (done.has(path)) return undefined;
    const found = (targets.get(path) ?? []).map((next) => findCircle(next, [...way, path])).find(Boolean);
    done.add(path);
    return found;
  };
  return [...targets.keys()].flatMap((path) => findCircle(path, []) ?? []);
}

describe('what is confined', () => {
  const importersOf = (name: string) =>
    app.filter(({ imports }) => imports.some(({ target }) => target === name)).map(({ path }) => path);

  it('the environment is read where programs start', () => {
    // In quotes it is a word that the page's bundler replaces.
    const read = /(?<!')\bprocess\.env\b/g;
    expect(strays(sources, read, ['main.ts', 'cli/', 'sandbox/main.ts', 'sandbox/check-slack.ts'])).toEqual(
      [],
    );
  });

  it.each([
    ['undici', ['cli/slack-checks.ts', 'hosting/send.ts', 'slack/transport/slack-api.ts']],
    [
      '@slack/web-api',
      ['slack/transport/oauth-api.ts', 'slack/transport/quiet-logger.ts', 'slack/transport/slack-api.ts'],
    ],
  ])('%s, which reaches the network, is used in %j alone', (name, places) => {
    expect(importersOf(name).sort()).toEqual([...places].sort());
  });

  it('transactions are begun by the engine, which repeats them where it has to', () => {
    // A check that the database answers must not be in the way of what it checks.
    const belongs = ['store/engine/', 'store/ping.ts', 'store/move-store.ts'];
    expect(strays(app, /\.transaction\(\)/g, belongs)).toEqual([]);
    expect(strays(app, /\.transact\(/g, []).length).toBeGreaterThan(10);
  });

  it('nothing else reaches the network', () => {
    const ways =
      /\bfetch\(|\bnew WebSocket\b|\bhttps?\.(request|get)\(|from 'node:(https|dgram|tls|http2|dns)'/g;
    expect(strays(app, ways, ['hosting/send.ts', 'slack/transport/slack-api.ts'])).toEqual([]);
  });

  it('real time, ids and randomness come from the system that is handed in', () => {
    const real =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bset(Timeout|Interval|Immediate)\b|\brandom(Bytes|UUID|Int)\b|\bperformance\.now\b|\bprocess\.hrtime\b|\bAbortSignal\.timeout\b|node:timers/g;
    const allowed: Readonly<Record<string, string>> = {
      'system.ts': 'it is the one door to them',
      'vault.ts': 'a nonce that a test could choose would not be one: randomBytes',
      'store/api-calls.ts':
        'gathers what is written in one turn of the event loop: setImmediate, no time passes',
      'slack/transport/slack-api.ts': 'gives up on Slack after 5 s: AbortSignal.timeout, which undici takes',
    };
    expect(strays(app, real, Object.keys(allowed))).toEqual([]);
    expect(strays(app, real, ['system.ts']).sort()).toEqual(
      [
        'slack/transport/slack-api.ts: AbortSignal.timeout',
        'store/api-calls.ts: setImmediate',
        'vault.ts: randomBytes',
        'vault.ts: randomBytes',
      ].sort(),
    );
  });

  it('secrets are opened in few places', () => {
    const places = app.filter(({ code }) => code.includes('.reveal()')).map(({ path }) => path);
    expect(places.sort()).toEqual(
      [
        'compose.ts',
        'hosting/client.ts',
        'hosting/send.ts',
        'cli/check-slack.ts',
        'cli/slack-checks.ts',
        'cli/open-app.ts',
        'cli/store.ts',
        'slack/transport/http-receiver.ts',
        'slack/transport/socket-connection.ts',
        'app/workflows/key-hash.ts',
        'slack/account/connect.ts',
        'slack/workflows/issue-form.ts',
        'slack/purchases/password-blocks.ts',
        'slack/transport/installer.ts',
        'slack/transport/oauth-api.ts',
        'slack/transport/slack-api.ts',
        'store/account/accounts.ts',
        'store/account/api-keys.ts',
        'store/installations/installation-rows.ts',
        'store/purchases/passwords.ts',
        'store/purchases/sealed-answers.ts',
        'store/purchases/spill.ts',
        'store/reply-urls.ts',
        'store/workflows/workflow-runs.ts',
        'web/metrics.ts',
      ].sort(),
    );
  });
});
