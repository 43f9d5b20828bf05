import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSources, type Source } from './support/sources.ts';

const sources = readSources();
const app = sources.filter(({ path }) => !path.startsWith('sandbox/'));
const isIn = (path: string, places: readonly string[]) =>
  places.some((place) => path === place || (place.endsWith('/') && path.startsWith(place)));

interface Layer {
  /** Files and folders that it may import. */
  readonly uses: readonly string[];
  /** Of which it may import types alone. */
  readonly knows?: readonly string[];
  readonly packages?: readonly string[];
}

/** The files in which the app says what it needs from outside. */
const PORTS = [
  'app/ports.ts',
  'app/hosting-api.ts',
  'app/access/grants-port.ts',
  'app/home/homes-port.ts',
  'app/locks.ts',
  'app/purchases/spill.ts',
  ...[
    'access',
    'account',
    'approvals',
    'authorize',
    'decisions',
    'home',
    'installations',
    'messages',
    'purchases',
    'reminders',
    'servers',
    'workflows',
  ].map((feature) => `app/${feature}/ports.ts`),
];

/** Who may import whom (docs/design.md 7): `slack → app → domain`; `hosting` and `store` → `domain`; `compose` wires. */
const LAYERS: Readonly<Record<string, Layer>> = {
  'domain/': { uses: ['domain/'], packages: ['node:util'] },
  'app/': { uses: ['app/', 'domain/'], knows: ['system.ts', 'log.ts'], packages: ['node:crypto'] },
  'hosting/': {
    uses: ['hosting/', 'domain/'],
    knows: ['app/hosting-api.ts', 'system.ts'],
    packages: ['bottleneck', 'undici', 'zod', 'node:crypto', 'node:events', 'node:http'],
  },
  // IDs in the order of the database's clock.
  'store/engine/postgres-clock.ts': { uses: ['store/', 'system.ts'], packages: ['kysely'] },
  'store/': {
    uses: ['store/', 'domain/'],
    knows: [...PORTS, 'system.ts', 'vault.ts'],
    packages: ['kysely', '@photostructure/sqlite', 'pg', 'zod', 'node:fs', 'node:path', 'node:util'],
  },
  // It signs states, and opens nothing.
  'slack/transport/installer.ts': {
    uses: ['slack/transport/', 'domain/'],
    knows: ['app/', 'system.ts', 'log.ts', 'vault.ts'],
    packages: ['@slack/oauth', 'node:http'],
  },
  'slack/transport/': {
    uses: ['slack/transport/', 'slack/kit/', 'slack/words.ts', 'app/with-timeout.ts', 'domain/'],
    knows: ['app/', 'system.ts', 'log.ts'],
    packages: [
      '@slack/bolt',
      '@slack/types',
      '@slack/web-api',
      'lru-cache',
      'undici',
      'zod',
      'node:crypto',
      'node:http',
      'node:querystring',
    ],
  },
  'slack/kit/short-key.ts': { uses: ['slack/kit/limits.ts'], packages: ['node:crypto'] },
  'slack/directory/': {
    uses: ['slack/directory/', 'app/with-timeout.ts', 'domain/'],
    knows: ['slack/transport/', 'app/', 'system.ts'],
    packages: ['lru-cache', 'zod'],
  },
  // Features get a request, the entry behind it and what they render: neither the store nor Slack's API.
  'slack/': {
    uses: ['slack/', 'app/', 'domain/'],
    knows: ['system.ts', 'log.ts'],
    packages: ['@slack/types', 'zod'],
  },
  'web/': {
    uses: ['web/', 'app/', 'domain/'],
    knows: ['system.ts', 'log.ts'],
    packages: ['prom-client', 'node:crypto', 'node:http', 'node:net'],
  },
  'system.ts': { uses: [], packages: ['ulid', 'node:crypto', 'node:timers/promises'] },
  'log.ts': { uses: [], packages: ['pino'] },
  'vault.ts': { uses: ['domain/'], packages: ['node:crypto'] },
  'config.ts': { uses: ['config-faults.ts', 'domain/', 'log.ts'], packages: ['zod'] },
  'config-faults.ts': { uses: ['domain/'] },
  'compose.ts': {
    uses: [
      'compose-slack.ts',
      'app/',
      'domain/',
      'hosting/',
      'slack/',
      'store/',
      'web/',
      'system.ts',
      'vault.ts',
    ],
    knows: ['config.ts', 'log.ts'],
    packages: ['node:http'],
  },
  'compose-slack.ts': {
    uses: ['app/', 'domain/', 'slack/'],
    knows: ['config.ts', 'log.ts', 'system.ts', 'vault.ts'],
  },
  'main.ts': { uses: ['compose.ts', 'config.ts', 'log.ts', 'uncaught.ts'] },
  'uncaught.ts': { uses: ['domain/errors.ts'], knows: ['log.ts'] },
  // The one part of the command line that opens the store; the programs only run use cases.
  'cli/open-app.ts': {
    uses: ['app/authorize/entry.ts', 'hosting/', 'store/', 'domain/', 'log.ts', 'system.ts', 'vault.ts'],
    knows: ['app/', 'config.ts'],
  },
  // Works on the whole database, or on a whole installation, below the use cases.
  'cli/store.ts': {
    uses: [
      'cli/erase-installation.ts',
      'cli/program.ts',
      'config.ts',
      'store/declare-restored.ts',
      'store/move-store.ts',
      'system.ts',
      'vault.ts',
    ],
    packages: ['node:util'],
  },
  'cli/erase-installation.ts': {
    uses: [
      'app/installations/erase-by-hand.ts',
      'app/locks.ts',
      'cli/program.ts',
      'log.ts',
      'store/open-store.ts',
      'system.ts',
    ],
    knows: ['config.ts', 'domain/', 'vault.ts'],
  },
  'cli/program.ts': { uses: ['domain/', 'config.ts', 'vault.ts'] },
  // Asks Slack without the rest of the app, so that it tells what is wrong where the app can't start.
  'cli/slack-checks.ts': {
    uses: ['slack/kit/blocks.ts', 'domain/named-owners.ts'],
    knows: ['config.ts', 'domain/secret.ts', 'system.ts'],
    packages: ['undici', 'zod'],
  },
  'cli/': {
    uses: ['cli/', 'app/account/', 'app/servers/', 'domain/', 'config.ts', 'system.ts'],
    knows: ['app/hosting-api.ts'],
    packages: ['node:os', 'node:readline/promises', 'node:stream', 'node:stream/promises', 'node:util'],
  },
  'start.mjs': { uses: ['main.ts'], packages: ['node:child_process', 'node:fs', 'node:url'] },
};

/** The parts of the sandbox: what of the product, and of each other, they may import. */
const SANDBOX_PARTS: Readonly<Record<string, Layer>> = {
  'sandbox/slack/': { uses: ['sandbox/slack/', 'slack/kit/limits.ts'] },
  'sandbox/hosting/': { uses: ['sandbox/hosting/'] },
  'sandbox/page/': {
    uses: ['sandbox/page/'],
    knows: [
      'sandbox/slack/page-api.ts',
      'sandbox/slack/server.ts',
      'sandbox/panel/panel-api.ts',
      'sandbox/gallery/gallery-api.ts',
    ],
  },
  // Only the gallery shows what the product's own functions make.
  'sandbox/gallery/': {
    uses: ['sandbox/gallery/', 'sandbox/slack/', 'slack/', 'domain/'],
    knows: ['app/', 'cli/slack-checks.ts'],
  },
  'sandbox/tour/': {
    uses: ['sandbox/tour/', 'domain/'],
    knows: ['sandbox/panel/panel-api.ts', 'sandbox/slack/', 'sandbox/hosting/', 'app/'],
  },
  'sandbox/panel/': {
    uses: ['sandbox/panel/', 'sandbox/slack/', 'sandbox/hosting/', 'sandbox/tour/', 'domain/'],
    knows: ['app/'],
  },
  'sandbox/keep/': { uses: ['sandbox/keep/', 'sandbox/slack/', 'sandbox/hosting/', 'sandbox/tour/'] },
  'sandbox/prepare.ts': { uses: ['sandbox/keep/'] },
  'sandbox/start.ts': {
    uses: ['sandbox/', 'compose.ts', 'config.ts', 'log.ts', 'system.ts', 'domain/', 'slack/commands.ts'],
  },
  'sandbox/main.ts': { uses: ['sandbox/prepare.ts', 'sandbox/start.ts'] },
  // Hands the gallery to the product's program, which can't import it.
  'sandbox/check-slack.ts': {
    uses: ['sandbox/gallery/', 'cli/check-slack.ts', 'cli/program.ts', 'system.ts'],
    knows: ['cli/slack-checks.ts'],
  },
};

function layerOf(path: string): Layer | undefined {
  const layers = { ...LAYERS, ...SANDBOX_PARTS };
  return Object.entries(layers).find(([place]) => isIn(path, [place]))?.[1];
}

/** The places that have what matches, other than those where it belongs. */
function strays(among: readonly Source[], pattern: RegExp, belongs: readonly string[]): string[] {
  return among
    .filter(({ path }) => !isIn(path, belongs))
    .flatMap(({ path, code }) => (code.match(pattern) ?? []).map((found) => `${path}: ${found.trim()}`));
}

describe('the direction of imports', () => {
  it('is known for every file', () => {
    expect(sources.filter(({ path }) => layerOf(path) === undefined).map(({ path }) => path)).toEqual([]);
    expect(sources.length).toBeGreaterThan(200);
    expect(app.flatMap(({ imports }) => imports).length).toBeGreaterThan(400);
  });

  it('is from the outside to the inside', () => {
    const wrong = sources.flatMap(({ path, imports }) => {
      const { uses, knows = [] } = layerOf(path) ?? { uses: [] };
      return imports
        .filter(({ isPackage, target }) => !isPackage && !isIn(target, uses))
        .filter(({ isTypeOnly, target }) => !(isTypeOnly && isIn(target, knows)))
        .map(({ target }) => `${path} imports ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it('leads to packages only from the files that may use them', () => {
    const wrong = app.flatMap(({ path, imports }) =>
      imports
        .filter(({ isPackage, target }) => isPackage && !layerOf(path)?.packages?.includes(target))
        .map(({ target }) => `${path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
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

const NOUNS = ['servers', 'purchases', 'reminders', 'approvals', 'access', 'account', 'workflows'];

describe('the seven nouns', () => {
  it('divide every layer, the tests and the docs', () => {
    const folders = new Set(sources.map(({ path }) => path.split('/').slice(0, 2).join('/')));
    for (const layer of ['app', 'slack']) {
      for (const noun of NOUNS) expect(folders).toContain(`${layer}/${noun}`);
    }
    // Nothing is stored about servers: the hosting API has them.
    for (const noun of NOUNS.slice(1)) expect(folders).toContain(`store/${noun}`);
    for (const noun of NOUNS) {
      expect(existsSync(`docs/${noun}.md`)).toBe(true);
      expect(existsSync(`test/whole/${noun}`)).toBe(true);
    }
  });
});

describe('a Slack feature', () => {
  const features = app.filter(({ path }) =>
    isIn(
      path,
      [...NOUNS, 'decisions'].map((noun) => `slack/${noun}/`),
    ),
  );

  it('is not known to the kit that all of them share', () => {
    const kit = app.filter(({ path }) => isIn(path, ['slack/kit/']));
    const known = kit.flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => features.some((feature) => feature.path === target))
        .map(({ target }) => `${path} imports ${target}`),
    );
    expect(known).toEqual([]);
    expect(kit.length).toBeGreaterThan(10);
  });

  it('gets only the entry, the ways to reply and what it renders with', () => {
    const given = ['request', 'reply', 'outbox', 'notify-safely', 'waiting'].map(
      (name) => `slack/transport/${name}.ts`,
    );
    const wrong = features.flatMap(({ path, imports }) =>
      imports
        .filter(
          ({ target }) => isIn(target, ['slack/transport/', 'slack/directory/']) && !given.includes(target),
        )
        .map(({ target }) => `${path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
    expect(features.length).toBeGreaterThan(40);
  });

  it('does not import what the use cases work with', () => {
    const knowing = app.filter(({ code }) => /\bAppPorts\b/.test(code)).map(({ path }) => path);
    expect(knowing.sort()).toEqual([
      'app/ports.ts',
      'compose.ts',
      'slack/create-slack.ts',
      'slack/transport/request-parts.ts',
      'slack/transport/request.ts',
    ]);
  });

  it('adds each command with one line in the list of commands', () => {
    const defining = features.filter(({ code }) => /\bdefineCommand\(/.test(code)).map(({ path }) => path);
    const listed = app
      .find(({ path }) => path === 'slack/commands.ts')
      ?.imports.map(({ target }) => target)
      .filter((target) =>
        isIn(
          target,
          features.map(({ path }) => path),
        ),
      );
    expect(listed?.sort()).toEqual(defining.sort());
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
    ['bottleneck', ['limit', 'open-slots'].map((file) => `hosting/${file}.ts`)],
    [
      '@slack/bolt',
      ['bolt', 'http-receiver', 'socket-connection', 'socket-receiver'].map(
        (name) => `slack/transport/${name}.ts`,
      ),
    ],
    ['@slack/oauth', ['slack/transport/installer.ts']],
    [
      '@slack/web-api',
      ['slack/transport/oauth-api.ts', 'slack/transport/quiet-logger.ts', 'slack/transport/slack-api.ts'],
    ],
    ['prom-client', ['web/metrics.ts']],
    ['pino', ['log.ts']],
    ['ulid', ['system.ts']],
    ['@photostructure/sqlite', ['store/engine/sqlite-dialect.ts', 'store/engine/sqlite-engine.ts']],
    [
      'pg',
      ['dialect', 'driver', 'engine', 'pool', 'share'].map((part) => `store/engine/postgres-${part}.ts`),
    ],
  ])('%s is used in %j alone', (name, places) => {
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
      'slack/transport/round-robin.ts':
        'begins one request of each workspace in one turn of the event loop: setImmediate, no time passes',
      'slack/transport/slack-api.ts': 'gives up on Slack after 5 s: AbortSignal.timeout, which undici takes',
    };
    expect(strays(app, real, Object.keys(allowed))).toEqual([]);
    expect(strays(app, real, ['system.ts']).sort()).toEqual(
      [
        'slack/transport/round-robin.ts: setImmediate',
        'slack/transport/round-robin.ts: setImmediate',
        'slack/transport/slack-api.ts: AbortSignal.timeout',
        'store/api-calls.ts: setImmediate',
        'vault.ts: randomBytes',
        'vault.ts: randomBytes',
      ].sort(),
    );
  });

  it('ids and metadata of Slack are written in the kit, and read where payloads are', () => {
    const belongs = [
      'slack/kit/',
      'slack/transport/payloads.ts',
      'slack/transport/dispatch-interactions.ts',
      'slack/transport/dispatch-shortcut.ts',
      'slack/transport/bolt.ts',
    ];
    expect(strays(app, /\b(action_id|callback_id|private_metadata|block_id)\b/g, belongs)).toEqual([]);
    // Bolt is told to take all of them; nothing is looked up there.
    const bolt = app.find(({ path }) => path === 'slack/transport/bolt.ts');
    expect(bolt?.code.match(/\b(action_id|callback_id|private_metadata|block_id)\b[^,}]*/g)).toEqual([
      'callback_id: /.*/',
    ]);
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
