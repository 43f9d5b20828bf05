import { build } from 'vite';

/**
 * Builds once before the tests, since tests that kill processes run what `npm start` runs: without it, `npm start` would build
 * while they run. Beside the app is one program that only tests start. Types are not checked here: `npm run check` does that.
 */
export async function setup(): Promise<void> {
  await build({
    configFile: 'vite.config.mjs',
    build: { rolldownOptions: { input: { 'crash-at': 'test/support/crash-at.mjs' } } },
  });
}
