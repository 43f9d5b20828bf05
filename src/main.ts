import { compose, type RunningApp } from './app.ts';
import { ConfigError, parseConfig } from './config.ts';
import { createLog, type Log, logUncaught } from './log.ts';

/** Starts the app from the environment. Prints an error as a sentence without a stack trace, with exit code 1. */
async function main(): Promise<void> {
  try {
    const config = parseConfig(process.env);
    const log = createLog(config.LOG_LEVEL);
    logUncaught(process, log, (code) => process.exit(code));
    if (process.env.REDIS_URL) log.warn('REDIS_URL is ignored: the app no longer uses Redis');
    const app = await compose(config, log);
    stopOnSignals(app, log);
    const where = { port: app.port, host: config.HOST, api: new URL(config.HOSTING_BASE_URL).host };
    const missing = (await app.faults()).join('; ');
    if (missing === '') log.info('ready', where);
    else log.warn('started, but not ready', { ...where, missing });
  } catch (error) {
    process.stderr.write(`${describeStartFault(error)}\n`);
    process.exitCode = 1;
  }
}

/** Lets running requests end after the first signal, and stops at once after the second. */
function stopOnSignals(app: RunningApp, log: Log): void {
  let isStopping = false;
  const stop = (signal: string): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    log.info('stopping', { signal });
    app.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
}

function describeStartFault(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (!(error instanceof Error)) return 'The app could not start.';
  const { code, port }: NodeJS.ErrnoException & { port?: number } = error;
  if (code === 'EADDRINUSE') return `Port ${port} is in use. Set PORT to a free one.`;
  if (code === 'EACCES' && port !== undefined)
    return `The app may not listen on port ${port}. Set PORT to one above 1023.`;
  return `The app could not start: ${error.message}`;
}

await main();
