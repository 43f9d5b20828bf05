import { defineConfig } from 'vite';

/** What only Bolt's own receivers need, which the app doesn't use: they would double the app's file, and take 10 MB of memory. */
const UNUSED = ['express', 'raw-body'];

// The build of the app and its other programs (`npm run build`): the sources with most libraries in a few files, since Node takes twice as
// long to find and read a thousand. Libraries with files of their own, or that load others when they need them, stay outside.
export default defineConfig({
  logLevel: 'error',
  plugins: [
    {
      name: 'leaves-out-unused',
      enforce: 'pre',
      resolveId: (id) => (UNUSED.includes(id) ? '\0unused' : undefined),
      load: (id) => (id === '\0unused' ? 'export default undefined;' : undefined),
    },
  ],
  ssr: { noExternal: true, external: ['@photostructure/sqlite', 'pino', 'pg', 'bottleneck'] },
  build: {
    ssr: true,
    target: 'node20',
    minify: false,
    sourcemap: true,
    rolldownOptions: {
      // Node keeps the text of what it has loaded: in half the memory if all of it is ASCII, and in less without comments.
      output: { charset: 'ascii', comments: { legal: true, annotation: false, jsdoc: false } },
      input: {
        main: 'src/main.ts',
        'cli/main': 'src/cli/main.ts',
      },
    },
  },
});
