#!/usr/bin/env node
// `vps-slack`, and what `npm start` and `npm run key` run: builds when the sources or the packages, which the build has in it, are newer
// than the build, then runs the program in this process. An installed package has no sources, and is never built.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const built = `${root}dist/main.js`;
const builder = `${root}node_modules/.bin/vite`;

function newestSource() {
  const sources = readdirSync(`${root}src`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('sandbox'))
    .map((entry) => `${entry.parentPath}/${entry.name}`);
  // npm writes the second one whenever it installs something.
  const others = [`${root}vite.config.mjs`, `${root}node_modules/.package-lock.json`].filter(existsSync);
  return Math.max(0, ...[...sources, ...others].map((path) => statSync(path).mtimeMs));
}

const isStale = !existsSync(built) || statSync(built).mtimeMs < newestSource();
if (isStale && existsSync(builder)) {
  const { status } = spawnSync(builder, ['build'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
} else if (!existsSync(built)) {
  process.stderr.write(
    'The app is not built, and what builds it is not installed: run npm ci and npm run build.\n',
  );
  process.exit(1);
}
// The environment takes precedence over the file.
const settings = ['.env', `${root}.env`].find((path) => existsSync(path));
if (settings) process.loadEnvFile(settings);

const [, self, ...args] = process.argv;
// By its own name, as in units and container files, it starts the app.
if (args.length === 0 && self.endsWith('start.mjs')) args.push('start');
if (args[0] === '--version') {
  process.stdout.write(`${JSON.parse(readFileSync(`${root}package.json`, 'utf8')).version}\n`);
} else {
  process.argv.splice(2, process.argv.length, ...args);
  await import('../dist/cli/main.js');
}
