import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config.ts';
import { makeFolder } from '../db/support.ts';
import { listSettings, makeKey } from '../support/environment.ts';
import { readStages } from './support/container-file.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const FOLDER = 'docs/deploy';

interface Service {
  readonly build?: string;
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
}
const compose: {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
} = parse(read(`${FOLDER}/compose.yaml`));
const stages = readStages(read('Dockerfile'));
const last = stages.at(-1);

const config = parseConfig({
  HOSTING_BASE_URL: 'https://a.test',
  SLACK_SIGNING_SECRET: 'x',
  SLACK_BOT_TOKEN: 'x',
  ENCRYPTION_KEYS: `k1:${makeKey('x')}`,
});

/** How long a stop takes at most by default: `closeApp` in app.ts. */
const STOP_SECONDS = config.HOSTING_TIMEOUT_MS / 1000 + 5;

/** Where a program is not installed its file is not checked, and the run says so. */
function isThere(program: string): boolean {
  const found = spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
  if (!found) process.stderr.write(`${FOLDER} is not checked with ${program}: it is not installed\n`);
  return found;
}

/** Runs a program that has to accept a file, and gives what it says. */
function check(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
  return stdout + stderr;
}

describe('the container file', () => {
  test('begins with a pinned Node that the app supports, and ends without rights', () => {
    const base = /^ARG NODE=node:(\d+\.\d+\.\d+)-bookworm-slim$/m.exec(read('Dockerfile'))?.[1] ?? '';
    expect(base.split('.')[0]).toBe(read('.nvmrc').trim().replace('v', ''));
    expect(stages.map((stage) => stage.base)).toEqual([`\${NODE}`, `\${NODE}`, `\${NODE}`]);
    expect(last?.instructions.filter((line) => /^(USER|EXPOSE|VOLUME|STOPSIGNAL)/.test(line))).toEqual([
      'VOLUME /app/data',
      'USER node',
      `EXPOSE ${config.PORT}`,
      'STOPSIGNAL SIGTERM',
    ]);
  });

  test('copies only what exists, and nothing that .dockerignore keeps out', () => {
    const own = stages.flatMap(({ copies }) => copies).filter(({ from }) => from === undefined);
    const ignore = read('.dockerignore').split('\n');
    for (const path of own.flatMap(({ source }) => source))
      expect([path, existsSync(path), ignore.includes(`!${path}`)]).toEqual([path, true, true]);
  });

  test('sets nothing but settings, and starts what exists', () => {
    const variables = last?.instructions.find((line) => line.startsWith('ENV '))?.match(/\w+(?==)/g);
    expect(['NODE_ENV', ...listSettings()]).toEqual(expect.arrayContaining(variables ?? []));
    expect(last?.instructions.at(-1)).toBe('ENTRYPOINT ["node", "src/start.mjs"]');
    expect(last?.healthCheck?.[2]).toContain('/livez');
  });
});

describe('the compose file', () => {
  const { app } = compose.services;

  test('names settings that exist, and gives the rest of them from a file', () => {
    const known = listSettings();
    expect(known).toEqual(expect.arrayContaining(Object.keys(app?.environment ?? {})));
    expect(app?.environment).toMatchObject({ PORT: String(config.PORT), HOST: '0.0.0.0' });
  });

  test('runs two processes that can write to their data alone, and waits for them to stop', () => {
    expect(app).toMatchObject({ init: true, read_only: true, cap_drop: ['ALL'], deploy: { replicas: 2 } });
    expect(app?.volumes).toEqual(['app-data:/app/data']);
    expect(app?.environment?.SPILL_DIR).toMatch(/^\/app\/data\//);
    expect(Number.parseInt(app?.stop_grace_period ?? '', 10)).toBeGreaterThan(STOP_SECONDS);
  });

  test('refers to services, volumes and files that exist', () => {
    expect(existsSync(join(FOLDER, app?.build ?? '', 'Dockerfile'))).toBe(true);
    for (const { volumes = [], environment = {} } of Object.values(compose.services)) {
      for (const [place = ''] of volumes.map((each) => each.split(':')))
        expect(
          place.startsWith('.') ? existsSync(join(FOLDER, place)) : place in compose.volumes,
          place,
        ).toBe(true);
      const addresses = Object.values(environment).join(' ');
      for (const [, host = ''] of addresses.matchAll(/(?:@|^|\s)([a-z]+):\d+/g))
        expect(compose.services).toHaveProperty(host);
    }
  });
});

describe('the systemd unit', () => {
  const unit = read(`${FOLDER}/vps-slack.service`);
  const values = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value);

  test('starts what exists, and waits for it to stop', () => {
    const [path] = values('ExecStart').map((line) => line?.split(' ')[1]?.replace('/opt/vps-slack/', ''));
    expect(existsSync(path ?? '')).toBe(true);
    expect(Number(values('TimeoutStopSec')[0])).toBeGreaterThan(STOP_SECONDS);
    expect(values('KillSignal')).toEqual(['SIGTERM']);
  });

  test('lets the app write to its state directory alone', () => {
    expect([values('ProtectSystem'), values('StateDirectory'), values('User')]).toEqual([
      ['strict'],
      ['vps-slack'],
      ['vps-slack'],
    ]);
    expect(values('NoNewPrivileges')).toEqual(['yes']);
    expect(values('WorkingDirectory')).toEqual(['/var/lib/vps-slack']);
  });

  test.skipIf(!isThere('systemd-analyze'))('is accepted by systemd, and well protected', () => {
    const file = join(makeFolder(), 'vps-slack.service');
    writeFileSync(file, unit.replace('/usr/bin/node', process.execPath));
    expect(check('systemd-analyze', 'verify', file)).toBe('');
    check('systemd-analyze', 'security', '--offline=true', '--threshold=20', file);
  });
});

describe('the reverse proxies', () => {
  /** Everything that users and Slack need: docs/design.md 8.2. */
  const PATHS = ['/slack/events', '/slack/install', '/slack/oauth_redirect', '/connect/', '/livez'];

  test('pass on what Slack and users need, and nothing else', () => {
    const caddy = /@app path (.+)/.exec(read(`${FOLDER}/Caddyfile`))?.[1]?.split(' ') ?? [];
    expect(caddy.map((path) => path.replace('*', ''))).toEqual(PATHS);
    const nginx = [...read(`${FOLDER}/nginx.conf`).matchAll(/location (?:= )?(\S+) \{(?:[^}]*proxy_pass)/g)];
    expect(nginx.map(([, path]) => path)).toEqual(PATHS);
  });

  test.skipIf(!isThere('caddy'))('are accepted by Caddy', () => {
    check('caddy', 'validate', '--adapter', 'caddyfile', '--config', `${FOLDER}/Caddyfile`);
  });

  test.skipIf(!isThere('nginx'))('are accepted by nginx', () => {
    const folder = makeFolder();
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const made = `req -x509 -newkey rsa:2048 -nodes -subj /CN=vps.example.com -keyout ${key} -out ${certificate}`;
    check('openssl', ...made.split(' '));
    const site = read(`${FOLDER}/nginx.conf`)
      .replace(/ssl_certificate \S+;/, `ssl_certificate ${certificate};`)
      .replace(/ssl_certificate_key \S+;/, `ssl_certificate_key ${key};`);
    writeFileSync(join(folder, 'site.conf'), site);
    const main = join(folder, 'nginx.conf');
    const around = `pid ${folder}/nginx.pid; error_log stderr; events {}`;
    writeFileSync(main, `${around} http { include ${folder}/site.conf; }`);
    check('nginx', '-t', '-c', main);
  });
});

test('docs/deploy.md and docs/operating.md name every file that they come with', () => {
  const words = read('docs/deploy.md') + read('docs/operating.md');
  for (const file of readdirSync(FOLDER)) expect(words).toContain(`(deploy/${file})`);
  expect(words).toContain('(../Dockerfile)');
});

interface Package {
  readonly version: string;
  readonly engines?: { readonly node?: string };
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly license?: string;
}

const { engines, version: own }: Package = JSON.parse(read('package.json'));
const lock: { readonly packages: Readonly<Record<string, Package>> } = JSON.parse(read('package-lock.json'));
const lowest = (engines?.node ?? '').split('||').map((range) => range.replace(/[^\d.]/g, ''));

/** Throws at a range of another form than those that packages use here, rather than passing it over. */
function accepts(range: string, version: string): boolean {
  return range.split('||').some((part) => {
    const [, sign, least = ''] = /^(\^|>=)? *(\d+(?:\.\d+)*)(?:\.x)?$/.exec(part.trim()) ?? [];
    if (least === '') throw new Error(`unknown range ${part}`);
    const [major = 0] = numbersOf(version);
    if (sign !== '>=' && major !== numbersOf(least)[0]) return false;
    return version.localeCompare(least, 'en', { numeric: true }) >= 0;
  });
}

const numbersOf = (version: string) => version.split('.').map(Number);

// npm leaves out an optional package that excludes the running version, such as the native part of a bundler, and goes on.
it.each(lowest)('every package that is installed runs on Node.js %s', (version) => {
  const unfit = Object.entries(lock.packages).filter(([, { engines: { node = '>=0' } = {} }]) => {
    return !accepts(node, version);
  });
  expect(unfit.map(([path, each]) => `${path} ${each.engines?.node}`)).toEqual([]);
});

it.each(['README.md', 'docs/deploy.md'])('%s names the lowest versions of Node.js', (path) => {
  const text = read(path);
  const named = /Node\.js ((?:\d[\d.]*\+(?:, | or )?)+)/.exec(text)?.[1]?.match(/\d[\d.]*\d/g);
  expect(named).toEqual(lowest.map((version) => version.replace(/(\.0)+$/, '')));
});

it('only the packages that SECURITY.md names run a script when they are installed', () => {
  const scripted = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  const named = read('SECURITY.md').match(/(?<=^- `)[^`]+(?=`)/gm) ?? [];
  expect(scripted.map(([path]) => path.replace(/^.*node_modules\//, ''))).toEqual(named);
});

it('every package that the app runs with has a license that SECURITY.md names', () => {
  const [named = ''] = /license other than [\s\S]+?\.$/m.exec(read('SECURITY.md')) ?? [];
  const allowed = [...named.matchAll(/`([\w.-]+)`/g)].map(([, license]) => license);
  const production = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev);
  expect(production.length).toBeGreaterThan(100);
  const other = production.filter(([, { license }]) => !allowed.includes(license));
  expect(other.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
});

it('the changelog has this version, below what isn’t released yet, and the ones before in order', () => {
  const headings = [...read('CHANGELOG.md').matchAll(/^## (.+)$/gm)].map(([, words]) => words);
  const released = headings[0] === 'Unreleased' ? headings.slice(1) : headings;
  const numbers = released.map(
    (words = '') => /^(\d+\.\d+\.\d+)(?: \(\d{4}-\d\d-\d\d\))?$/.exec(words)?.[1] ?? words,
  );
  expect(numbers[0]).toBe(own);
  const descending = [...numbers].sort((one, other) => other.localeCompare(one, 'en', { numeric: true }));
  expect(numbers).toEqual(descending);
  expect(lock.packages['']).toMatchObject({ version: own });
});

test('src/start.mjs builds again when a source, the build’s settings or an installed package is newer than the build', () => {
  const root = makeFolder();
  const file = (name: string, text: string, at: number) => {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o755 });
    utimesSync(path, at, at);
  };
  const isBuilt = () => {
    const start = [join(root, 'src/start.mjs'), '--version'];
    return execFileSync(process.execPath, start, { encoding: 'utf8' }).includes('building');
  };
  file('src/start.mjs', read('src/start.mjs'), 1);
  file('package.json', '{"version":"1.2.3"}', 1);
  file('node_modules/.bin/vite', '#!/bin/sh\necho building', 1);
  file('dist/main.js', '', 2);
  expect(isBuilt()).toBe(false);
  for (const name of ['src/core/time.ts', 'vite.config.mjs', 'node_modules/.package-lock.json']) {
    file(name, '', 3);
    expect([name, isBuilt()]).toEqual([name, true]);
    file(name, '', 1);
  }
});
