import { spawnSync } from 'node:child_process';
import { build } from 'vite';

/**
 * Builds once before the tests, since tests that kill processes run what `npm start` runs.
 * Types are not checked here: `npm run check` does that.
 */
export async function setup(): Promise<void> {
  const { status } = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json', '--noCheck'], {
    stdio: 'inherit',
  });
  if (status === null) throw new Error('the compiler could not be run');
  await bundle();
}

/**
 * The same programs with their libraries in few files, in `dist/bundled`: Node takes a second to find and read a thousand
 * modules, and the tests start more than a hundred processes. Libraries with files of their own, or that load others when they need them, stay outside.
 */
async function bundle(): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true, external: ['@photostructure/sqlite', 'pino', 'pg', 'bottleneck'] },
    build: {
      ssr: true,
      outDir: 'dist/bundled',
      target: 'node20',
      minify: false,
      rolldownOptions: {
        input: {
          main: 'dist/main.js',
          'impatient-app': 'test/support/impatient-app.mjs',
          'crash-at': 'test/attacks/support/crash-at.mjs',
          'cli/main': 'dist/cli/main.js',
        },
      },
    },
  });
}
