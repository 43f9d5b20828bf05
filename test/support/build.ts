import { build } from 'vite';

/**
 * Builds once before the tests, since tests that kill processes run what `npm start` runs. In `dist/bundled` are the same programs
 * with one that only tests start. Types are not checked here: `npm run check` does that.
 */
export async function setup(): Promise<void> {
  const configFile = 'vite.config.mjs';
  // First, since it empties `dist`. Without it, `npm start` would build while tests run.
  await build({ configFile });
  await build({
    configFile,
    build: {
      outDir: 'dist/bundled',
      rolldownOptions: {
        input: { 'crash-at': 'test/support/crash-at.mjs' },
      },
    },
  });
}
