import { parseArgs } from 'node:util';
import type { Sandbox } from './start.ts';

const DEFAULT_PORT = 4000;
/** The app and the hosting account take the two ports after it. */
const LAST_PORT = 65_533;

const HELP = `npm run sandbox -- [options]

  --port PORT   the page's port, ${DEFAULT_PORT} unless said otherwise; the two after it are taken, too
  --data DIR    keeps accounts, servers, keys, roles and the chat in this folder
  --connected   starts with the hosting account connected, so that /vps create works at once
  --help        shows this
`;

interface CliOptions {
  readonly port: number;
  readonly folder: string | undefined;
  readonly isConnected: boolean;
}

/** Runs the sandbox until it is interrupted: `npm run sandbox -- --port 4000`. */
async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (!options) {
    process.stdout.write(HELP);
    return;
  }
  // Only now, and the rest only then: loading it takes most of the start, and a refusal should come at once.
  const { prepare } = await import('./prepare.ts');
  const prepared = await prepare(options);
  const { startSandbox } = await import('./start.ts');
  const sandbox = await startSandbox({ ...options, logLevel: process.env.LOG_LEVEL ?? 'warn' }, prepared);
  const stored = options.folder === undefined ? 'nothing is kept' : `everything is kept in ${options.folder}`;
  console.log(`
  The sandbox is ready:  ${sandbox.url}

  Open it; the five steps beside the chat show the way. Nothing leaves this machine, and ${stored}.
  The hosting account:   ${sandbox.accountUrl}
  Stop with Ctrl-C.
`);
  stopWhenAsked(sandbox);
}

/** The first signal stops in order, the second at once. */
function stopWhenAsked(sandbox: Sandbox): void {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    sandbox.close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(describeFault(error));
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

/** Reads the command line; undefined when help is asked for. @throws Error with a sentence */
function parseOptions(args: string[]): CliOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: 'string', default: String(DEFAULT_PORT) },
      data: { type: 'string' },
      connected: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  if (values.data?.trim() === '') throw new RangeError('Give a folder after --data.');
  return { port: parsePort(values.port), folder: values.data, isConnected: values.connected };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > LAST_PORT)
    throw new RangeError(`"${text}" is not a port; give a number from 1 to ${LAST_PORT} after --port.`);
  return port;
}

function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use. The sandbox takes three ports in a row: choose others with --port.`;
  if (code === 'EACCES' && port !== undefined)
    return `Port ${port} is not ours to open. Choose another with --port.`;
  if (code?.startsWith('ERR_PARSE_ARGS')) return `${error.message}\n\n${HELP}`;
  return error.message;
}

main().catch((error: unknown) => {
  console.error(describeFault(error));
  process.exit(1);
});
