import { execFile, spawnSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProcess } from '../support/killable-team.ts';
import { startTeam } from '../support/team.ts';
import { readStages } from './support/container-file.ts';
import { asOther, canBeOther, copyPackages, copySources, NODE_USER } from './support/packages.ts';

/*
 * There is no container engine where the tests run. So the steps of the container file are done by hand in a folder: what
 * it copies, what its packages are, and what its process may do.
 */

const run = promisify(execFile);
let image: string;
beforeAll(async () => {
  image = await mkdtemp(join(tmpdir(), 'vps-slack-image-'));
  const [build, , last] = readStages(await readFile('Dockerfile', 'utf8'));
  const context = join(image, 'build');
  await mkdir(context);
  for (const { from, source } of build?.copies ?? []) {
    expect(from).toBeUndefined();
    await copySources(source, context);
  }
  await symlink(join(process.cwd(), 'node_modules'), join(context, 'node_modules'));
  await run('npm', ['run', 'build'], { cwd: context });
  const app = join(image, 'app');
  for (const { from, source, target } of last?.copies ?? [])
    for (const path of source) {
      if (from === 'packages') await copyPackages(join(app, target));
      else
        await cp(join(context, path.replace('/app/', '')), join(app, target === './' ? path : target), {
          recursive: true,
        });
    }
  await rm(context, { recursive: true });
  await run('chmod', ['-R', 'a-w,a+rX', app]);
  await mkdir(join(image, 'data'), { mode: 0o700 });
  if (canBeOther) await chown(join(image, 'data'), NODE_USER, NODE_USER);
  await chmod(image, 0o755);
});

afterAll(async () => {
  await run('chmod', ['-R', 'u+w', image]);
  await rm(image, { recursive: true, force: true });
});

/** The entry point as the image runs it: another user, a folder that can't be written to. */
const asInImage = () => asOther(process.execPath, join(image, 'app', 'src/start.mjs'));

test('what the container file copies is enough to run, without rights, in a folder that can’t be written to', async () => {
  await using team = await startTeam();
  const settings = {
    ...team.environment,
    NODE_ENV: 'production',
    DATABASE_URL: `sqlite:${join(image, 'data', 'vps.sqlite')}`,
    PORT: '0',
  };
  await using app = await startProcess(settings, asInImage());
  expect((await fetch(`${app.url}/livez`)).status).toBe(200);
  await expect.poll(async () => (await fetch(`${app.url}/readyz`)).text()).toBe('ok\n');
  const [program = '', ...args] = readStages(await readFile('Dockerfile', 'utf8')).at(-1)?.healthCheck ?? [];
  const check = (PORT: string) => spawnSync(program, args, { env: { PATH: process.env.PATH, PORT } }).status;
  expect([check(new URL(app.url).port), check('1')]).toEqual([0, 1]);
  expect(await app.stop()).toBe(0);
  expect(await readdir(join(image, 'data'))).toContain('vps.sqlite');
});

test.runIf(canBeOther)('the container can’t write anywhere but to its data', () => {
  const [program, ...args] = asInImage();
  const touch = (path: string) => spawnSync(program, [...args.slice(0, -2), 'touch', path]).status;
  const paths = [join(image, 'app', 'x'), join(image, 'app', 'dist', 'x'), join(image, 'data', 'x')];
  expect(paths.map(touch)).toEqual([1, 1, 0]);
});
