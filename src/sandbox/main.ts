import { once } from 'node:events';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import type { Sandbox } from './start.ts';

const DEFAULT_PORT = 4000;
/** The app and the hosting account take the two ports after it. */
const LAST_PORT = 65_533;

const HELP = `npm run sandbox -- [options]

  --port PORT   port for the page (default ${DEFAULT_PORT}); the next two are used too
  --socket      have the app use Socket Mode instead of HTTP
  --connected   start with the hosting account connected, so that /vps create works right away
  --help        show this help
`;

/** Runs the sandbox until it is interrupted: `npm run sandbox -- --port 4000`. */
async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (!options) {
    process.stdout.write(HELP);
    return;
  }
  // Loaded late: loading takes most of the start, and a refusal should be shown immediately.
  for (const port of [options.port, options.port + 1, options.port + 2]) await checkPort(port);
  const { startSandbox } = await import('./start.ts');
  const sandbox = await startSandbox({ ...options, logLevel: process.env.LOG_LEVEL ?? 'warn' });
  process.stdout.write(`
  The sandbox is ready:  ${sandbox.url}

  Open it in a browser and follow the five-step tour. Everything stays on this machine; nothing is saved.
  Hosting account:       ${sandbox.accountUrl}
  Press Ctrl-C to stop.

`);
  stopOnSignal(sandbox);
}

async function checkPort(port: number): Promise<void> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

/** The first signal shuts down cleanly, the second exits immediately. */
function stopOnSignal(sandbox: Sandbox): void {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    sandbox.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${describeError(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

/** Reads the command line; undefined for --help. @throws Error with a sentence for the user */
function parseOptions(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: 'string', default: String(DEFAULT_PORT) },
      connected: { type: 'boolean', default: false },
      socket: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  return {
    port: parsePort(values.port),
    isConnected: values.connected,
    isSocketMode: values.socket,
  };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > LAST_PORT)
    throw new RangeError(`"${text}" is not a port. Choose a number from 1 to ${LAST_PORT} with --port.`);
  return port;
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use. The sandbox needs three ports in a row: choose others with --port.`;
  if (code === 'EACCES' && port !== undefined)
    return `You don't have permission to use port ${port}. Choose another with --port.`;
  if (code?.startsWith('ERR_PARSE_ARGS')) return `${error.message}\n\n${HELP}`;
  return error.message;
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeError(error)}\n`);
  process.exit(1);
});
