import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TEAM } from '../../src/sandbox/slack/workspace.ts';
import { startProcess } from '../support/killable-team.ts';
import { startTeam } from '../support/team.ts';
import { asOther, canBeOther, copyPackages, copySources, NODE_USER } from './support/packages.ts';

let root: string;
let home: string;
let sources: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'vps-slack-package-'));
  home = join(root, 'home');
  await mkdir(home);
  await chmod(root, 0o755);
  sources = join(root, 'pack', 'sources');
  await copySources(['src', 'tsconfig.json', 'vite.config.mjs', 'README.md', 'CHANGELOG.md'], sources);
  await copySources(['.env.example', 'manifest.yml', 'manifest.socket.yml'], sources);
  await copyPackages(join(sources, 'node_modules'));
  // What builds it is a development dependency: outside of what is packed.
  await symlink(join(process.cwd(), 'node_modules'), join(root, 'pack', 'node_modules'));
});

afterAll(() => rm(root, { recursive: true, force: true }));

/** Runs a command to its end, with this text as its input. */
function run(cwd: string, command: readonly [string, ...string[]], input = '') {
  const [program, ...args] = command;
  return new Promise<{ code: number; output: string; words: string }>((resolve) => {
    const options = { cwd, env: { PATH: process.env.PATH, HOME: home }, maxBuffer: 1e8 };
    const child = execFile(program, args, options, (error, output, words) =>
      resolve({ code: Number(error?.code ?? 0), output, words }),
    );
    child.stdin?.end(input);
  });
}

/** Packs the sources as they are, as version 0.1.0: `npm pack` builds them. */
async function pack(): Promise<string> {
  const about = JSON.parse(await readFile('package.json', 'utf8'));
  await writeFile(join(sources, 'package.json'), JSON.stringify({ ...about, version: '0.1.0' }));
  expect(await run(sources, ['npm', 'pack', '--silent'])).toMatchObject({ code: 0 });
  return join(sources, 'vps-slack-0.1.0.tgz');
}

/** Makes the package of version 0.1.1, which differs only in its number: `npm pack` takes most of a minute. */
async function repack(tarball: string): Promise<string> {
  const unpacked = join(root, 'next');
  await mkdir(unpacked);
  expect(await run(unpacked, ['tar', '-xzf', tarball])).toMatchObject({ code: 0 });
  const path = join(unpacked, 'package', 'package.json');
  await writeFile(path, (await readFile(path, 'utf8')).replace('"0.1.0"', '"0.1.1"'));
  const next = join(root, 'vps-slack-0.1.1.tgz');
  expect(await run(unpacked, ['tar', '-I', 'gzip -1', '-cf', next, 'package'])).toMatchObject({ code: 0 });
  return next;
}

/** Installs a package in the operator's folder, without a network. */
async function install(folder: string, tarball: string): Promise<void> {
  // Slack's library names the types of Express as a peer, which only a compiler needs.
  const options = ['--offline', '--omit=dev', '--legacy-peer-deps', '--no-audit'];
  const ended = await run(folder, ['npm', 'install', ...options, tarball]);
  expect(ended).toMatchObject({ code: 0 });
}

test('the packed app installs in an empty folder without a network, runs as another user, and is upgraded in place', async () => {
  await using team = await startTeam({ isConnected: false });
  const folder = join(root, 'operator');
  await mkdir(folder);
  const tarball = await pack();
  await install(folder, tarball);
  const data = join(folder, 'data');
  await mkdir(data, { mode: 0o700 });
  if (canBeOther) await chown(data, NODE_USER, NODE_USER);
  const settings = { ...team.environment, DATABASE_URL: 'sqlite:./data/vps.sqlite' };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(folder, '.env'), lines.join(''), { mode: 0o644 });
  const program = (...args: readonly string[]) => asOther('node_modules/.bin/vps-slack', ...args);
  const startApp = () => {
    const [first, ...rest] = program('start');
    return startProcess({}, ['env', '--chdir', folder, first, ...rest]);
  };

  {
    await using app = await startApp();
    await expect.poll(async () => (await fetch(`${app.url}/readyz`)).text()).toBe('ok\n');
    const set = await run(folder, program('key', 'set', '--json'), `${team.apiKey}\n`);
    expect(set).toEqual({ code: 0, output: `{"workspaceId":"${TEAM.id}","isConnected":true}\n`, words: '' });
    expect(await run(folder, program('--version'))).toMatchObject({ code: 0, output: '0.1.0\n' });
    expect(await app.stop()).toBe(0);
  }

  await install(folder, await repack(tarball));
  expect(await run(folder, program('--version'))).toMatchObject({ code: 0, output: '0.1.1\n' });
  await using app = await startApp();
  await expect.poll(async () => (await fetch(`${app.url}/readyz`)).text()).toBe('ok\n');
  const kept = await run(folder, program('key', 'list', '--json'));
  expect(kept).toEqual({ code: 0, output: `["${TEAM.id}"]\n`, words: '' });
  expect(await run(folder, program('vps', 'list'))).toMatchObject({ code: 0, output: 'No servers match.\n' });
  expect(await run(folder, program('audit', 'verify'))).toMatchObject({ code: 0, words: '' });
  const checked = await run(folder, program('doctor', '--json'));
  expect(checked).toMatchObject({ code: 0, words: '' });
  expect(JSON.parse(checked.output)).toMatchObject({ version: 1, ok: true });
  expect(await app.stop()).toBe(0);
}, 600_000);
