// `npm start`, and `npm run` with `key`, `audit`, `store` or `vps`: builds when the sources are newer than the build, then runs that in this process.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const built = `${root}dist/main.js`;
const compiler = `${root}node_modules/.bin/tsc`;

function newestSource() {
  return readdirSync(`${root}src`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('sandbox'))
    .reduce((newest, entry) => Math.max(newest, statSync(`${entry.parentPath}/${entry.name}`).mtimeMs), 0);
}

const isStale = !existsSync(built) || statSync(`${root}dist/.tsbuildinfo`).mtimeMs < newestSource();
if (isStale && existsSync(compiler)) {
  const { status } = spawnSync(compiler, ['-p', `${root}tsconfig.build.json`], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
} else if (!existsSync(built)) {
  process.stderr.write(
    'The app is not built, and the compiler is not installed: run npm ci and npm run build.\n',
  );
  process.exit(1);
}
// The environment takes precedence over the file.
if (existsSync(`${root}.env`)) process.loadEnvFile(`${root}.env`);
const [, , program] = process.argv;
const isNamed = ['key', 'audit', 'store', 'vps'].includes(program);
if (isNamed) process.argv.splice(2, 1);
await import(isNamed ? `../dist/cli/${program}.js` : '../dist/main.js');
