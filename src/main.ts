import { compose, type RunningApp } from './app.ts';
import { type Config, ConfigError, findMisspelled, parseConfig } from './config.ts';
import { placeOfPostgres } from './db/database.ts';
import { createLog, type Log, logUncaught } from './log.ts';

/** Starts the app from the environment. Prints an error as a sentence without a stack trace, with exit code 1. */
async function main(): Promise<void> {
  try {
    const config = parseConfig(process.env);
    const log = createLog(config.LOG_LEVEL);
    logUncaught(process, log, (code) => process.exit(code));
    if (process.env.REDIS_URL) log.warn('REDIS_URL is ignored: the app no longer uses Redis');
    for (const misspelled of findMisspelled(process.env)) log.warn(misspelled);
    if (process.stdout.isTTY) return await startOnTerminal(config, log);
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

/** Starts the app, and says in sentences what it is connected to and what to do next. */
async function startOnTerminal(config: Config, log: Log): Promise<void> {
  let hasStarted = false;
  // The sentence at the end sums up what the single lines of a start say.
  const info: Log['info'] = (words, fields) =>
    (hasStarted || words === 'audit head') && log.info(words, fields);
  const app = await compose(config, { ...log, info });
  stopOnSignals(app, log);
  hasStarted = true;
  const address = `http://${config.HOST}:${app.port}`;
  if ((await app.faults()).length > 0)
    return log.warn(
      `Started, but not ready. ${address}/readyz says what is missing, and the app keeps trying`,
    );
  const { workspaces, installations, apiKeys } = app.ports;
  const names: string[] = [];
  for (const { id, name } of await workspaces.list()) if (await installations.isServed(id)) names.push(name);
  const slack = names.length === 1 ? `the Slack workspace ${names[0]}` : `${names.length} Slack workspaces`;
  const way = config.SLACK_APP_TOKEN ? 'in Socket Mode' : `over HTTP at ${address}/slack/events`;
  const { DATABASE_URL: url, PUBLIC_URL: publicUrl } = config;
  const database = /^sqlite:/i.test(url) ? url.slice('sqlite:'.length) : placeOfPostgres(url);
  log.info(`Ready. Connected to ${slack} ${way}, with the database ${database}`);
  if (names.length === 0) log.info(`Next: open ${publicUrl}/slack/install to install the app in Slack`);
  else if ((await apiKeys.listWorkspaces()).length === 0) log.info('Next: run /vps connect in Slack');
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
    return `The app isn’t allowed to listen on port ${port}. Set PORT to one above 1023.`;
  return `The app could not start: ${error.message}`;
}

await main();
