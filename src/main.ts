import { compose, type RunningApp } from './compose.ts';
import { ConfigError, parseConfig } from './config.ts';
import { createLog, type Log } from './log.ts';

/** Starts the app from the environment; a fault in it is a sentence and exit code 1, never a stack. */
async function main(): Promise<void> {
  let log: Log | undefined;
  try {
    const config = parseConfig(process.env);
    log = createLog(config.LOG_LEVEL);
    const app = await compose(config, log);
    log.info('ready', { port: app.port, host: config.HOST, api: new URL(config.HOSTING_BASE_URL).host });
    stopWhenAsked(app, log);
  } catch (error) {
    process.stderr.write(`${describeStartFault(error)}\n`);
    process.exitCode = 1;
  }
}

/** The first signal stops in order, the second at once. */
function stopWhenAsked(app: RunningApp, log: Log): void {
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
  const code = (error as { code?: unknown }).code;
  if (code === 'EADDRINUSE') return 'The port is in use by another program: set PORT to a free one.';
  if (code === 'EACCES') return 'This port may not be listened on: set PORT to one above 1023.';
  return error instanceof Error ? `The app could not start: ${error.message}` : 'The app could not start.';
}

await main();
