import { parseArgs } from 'node:util';
import { parseOrExplain, UsageError } from '../program.ts';

export const USAGE = `Usage:
  npm run check:slack -- [options]

Asks the real Slack, with SLACK_BOT_TOKEN, SLACK_APP_TOKEN, SLACK_API_URL, OWNERS and PUBLIC_URL from .env or the environment,
whether the app is set up well. It posts a message to a user, and one in the channel that you name, and deletes both.

  --channel ID|NAME  a channel that the app is a member of, to post, edit and delete a message in
  --user ID          the user who gets a direct message (default: the first of OWNERS)
  --no-gallery       skip validating every message and form of the app, which takes a few minutes
  --timeout SECONDS  how long to wait for each answer (default 20)
  --json             print one JSON object instead of lines
  --help             show this help

Exit code: 0 if nothing needs fixing, 1 if something does, 2 if the arguments are wrong.`;

/** What the command line asked for. */
export interface Options {
  readonly channel: ChannelName | undefined;
  readonly userId: string | undefined;
  readonly hasGallery: boolean;
  readonly timeoutSeconds: number;
  readonly isJson: boolean;
  readonly isHelp: boolean;
}

/** A channel as the operator names it: by ID, or by name without the #. */
export interface ChannelName {
  readonly by: 'id' | 'name';
  readonly text: string;
}

/** Reads the command line. @throws UsageError */
export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseOrExplain(
    () =>
      parseArgs({
        args: [...args],
        options: {
          channel: { type: 'string' },
          user: { type: 'string' },
          'no-gallery': { type: 'boolean', default: false },
          timeout: { type: 'string', default: '20' },
          json: { type: 'boolean', default: false },
          help: { type: 'boolean', default: false },
        },
        allowPositionals: true,
      }),
    USAGE,
  );
  if (positionals.length > 0) throw new UsageError(`I didn't understand "${positionals.join(' ')}".`, USAGE);
  return {
    channel: parseChannel(values.channel),
    userId: parseUser(values.user),
    hasGallery: !values['no-gallery'],
    timeoutSeconds: parseTimeout(values.timeout),
    isJson: values.json,
    isHelp: values.help,
  };
}

/** IDs are upper case and names are lower case, so neither is taken for the other. */
function parseChannel(text: string | undefined): ChannelName | undefined {
  if (text === undefined) return undefined;
  if (/^[CG][A-Z0-9]{2,}$/.test(text)) return { by: 'id', text };
  const name = text.replace(/^#/, '').toLowerCase();
  if (/^[^\s#@<>]{1,80}$/.test(name)) return { by: 'name', text: name };
  throw new UsageError(`--channel needs a channel's ID or name, such as C012AB3CD or ops.`, USAGE);
}

function parseUser(text: string | undefined): string | undefined {
  if (text === undefined || /^[UW][A-Z0-9]{2,}$/.test(text)) return text;
  throw new UsageError(
    '--user needs a Slack user ID, such as U012AB3CD: "Copy member ID" in the profile.',
    USAGE,
  );
}

function parseTimeout(text: string): number {
  const seconds = Number(text);
  if (/^\d{1,3}$/.test(text) && seconds > 0) return seconds;
  throw new UsageError('--timeout needs a number of seconds from 1 to 999.', USAGE);
}
