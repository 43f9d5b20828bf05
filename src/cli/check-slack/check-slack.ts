import { ConfigError, type Environment, parseSlackCheckConfig, type SlackCheckConfig } from '../../config.ts';
import { listNamedOwners } from '../../domain/named-owners.ts';
import type { Secret } from '../../domain/secret.ts';
import type { System } from '../../system.ts';
import { UsageError } from '../program.ts';
import { checkAppToken } from './app-token.ts';
import { checkChannel } from './channel.ts';
import { checkDirectMessage } from './direct-message.ts';
import { checkGroups, checkUsers } from './look-ups.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { checkGallery, type Piece } from './pieces.ts';
import { checkPublicAddress } from './public-address.ts';
import { createReport, type Report } from './report.ts';
import { checkScopes } from './scopes.ts';
import { checkToken } from './token.ts';
import { createWebApi, type WebApi } from './web-api.ts';

/** What the program works with. */
export interface CheckParts {
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly system: Pick<System, 'sleep'>;
  /** Reads every message and form of the app; handed in, since the product knows nothing of the gallery. */
  readPieces(): Promise<readonly Piece[]>;
  /** Takes the result. */
  print(words: string): void;
  /** Takes what must not mix with the result: wrong arguments, and how far the check is. */
  tell(words: string): void;
}

/** `npm run check:slack`: resolves with the exit code. */
export async function checkSlack(parts: CheckParts): Promise<number> {
  const options = readOptions(parts);
  if (options === undefined) return 2;
  if (options.isHelp) {
    parts.print(USAGE);
    return 0;
  }
  const config = readConfig(parts.environment);
  const report = createReport(tokensOf(config), options.isJson ? () => {} : parts.print);
  if (config instanceof ConfigError)
    report.failed('settings', { code: 'settings', text: `${config.faults.join('; ')}.` });
  else await checkAll(parts, config, options, report);
  parts.print(options.isJson ? report.toJson() : `\n${report.summarize()}`);
  return report.exitCode();
}

function readOptions({ args, tell }: CheckParts): Options | undefined {
  try {
    return parseOptions(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    tell(error.message);
    return undefined;
  }
}

function readConfig(environment: Environment): SlackCheckConfig | ConfigError {
  try {
    return parseSlackCheckConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

function tokensOf(config: SlackCheckConfig | ConfigError): readonly Secret<string>[] {
  if (config instanceof ConfigError) return [];
  return [config.SLACK_BOT_TOKEN, ...(config.SLACK_APP_TOKEN ? [config.SLACK_APP_TOKEN] : [])];
}

async function checkAll(
  parts: CheckParts,
  config: SlackCheckConfig,
  options: Options,
  report: Report,
): Promise<void> {
  const { SLACK_API_URL: apiUrl, SLACK_APP_TOKEN: appToken } = config;
  const { timeoutSeconds } = options;
  const withToken = async (token: Secret<string>, check: (api: WebApi) => Promise<void>) => {
    const api = createWebApi({ apiUrl, token, timeoutSeconds, ...parts });
    await check(api).finally(api.close);
  };
  if (appToken) await withToken(appToken, (api) => checkAppToken(api, report));
  await withToken(config.SLACK_BOT_TOKEN, async (api) => {
    await checkPublicAddress(config.PUBLIC_URL, api, report);
    await checkInSlack(parts, api, listNamedOwners(config.OWNERS), options, report);
  });
}

/** What takes longest comes last. */
async function checkInSlack(
  { readPieces, tell }: CheckParts,
  api: WebApi,
  owners: readonly string[],
  options: Options,
  report: Report,
): Promise<void> {
  const app = await checkToken(api, report);
  if (!app) return report.skipped('everything else', 'needs a token that works.');
  checkScopes(app.granted, report);
  const checkup = { ...app, api, report, owners, userId: options.userId ?? owners[0] };
  await checkUsers(checkup);
  await checkGroups(checkup);
  await checkDirectMessage(checkup);
  await checkChannel(checkup, options.channel);
  if (!options.hasGallery) return report.skipped('gallery', 'left out by --no-gallery.');
  await checkGallery(await readPieces(), api, report, tell);
}
