import { decimalOf } from './catalog.ts';
import { HELP, parseOptions } from './options.ts';
import { type Hosting, startHosting } from './start.ts';

const BALANCE_MINOR = 250_00;

/** Runs the hosting service by itself until it is interrupted: `npm run hosting -- --port 4100`; `--help` lists the options. */
async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (!options) {
    process.stdout.write(HELP);
    return;
  }
  const hosting = await startHosting(options);
  const account = hosting.accounts.create({ name: 'Example Ltd', balanceMinor: BALANCE_MINOR });
  const key = hosting.createKey(account);
  process.stdout.write(`The sandbox hosting service listens on ${hosting.baseUrl}
  account       ${account.name}, balance ${decimalOf(BALANCE_MINOR)}
  API key       ${key}
  account page  ${hosting.pageUrlOf(account)}

  curl -H "Authorization: Bearer ${key}" ${hosting.baseUrl}/catalog
`);
  closeOnSignal(hosting);
}

function closeOnSignal(hosting: Hosting): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void hosting.close());
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE') return `Port ${port} is in use. Choose another with --port.`;
  if (code === 'EACCES') return `Port ${port} is not ours to open. Choose another with --port.`;
  return error.message;
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exitCode = 1;
});
