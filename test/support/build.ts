import { build } from 'vite';

/**
 * Builds once before the tests, in `dist/bundled`, since tests that kill processes run what `npm start` runs: the app, its programs, and
 * two that only tests start. Types are not checked here: `npm run check` does that.
 */
export async function setup(): Promise<void> {
  await build({
    configFile: 'vite.config.mjs',
    build: {
      outDir: 'dist/bundled',
      rolldownOptions: {
        input: {
          'impatient-app': 'test/support/impatient-app.mjs',
          'crash-at': 'test/attacks/support/crash-at.mjs',
        },
      },
    },
  });
}
