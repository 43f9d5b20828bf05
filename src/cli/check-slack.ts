import { parseArgs } from 'node:util';
import { ConfigError, type Environment, parseSlackCheckConfig } from '../config.ts';
import type { System } from '../system.ts';
import { parseOrExplain, UsageError } from './program.ts';
import { type Piece, runChecks, type Status, type Wanted } from './slack-checks.ts';

export const CHECK_SLACK_USAGE = `Usage:
  npm run check:slack -- [options]

Asks the real Slack, with SLACK_BOT_TOKEN, SLACK_APP_TOKEN, SLACK_API_URL, OWNERS and PUBLIC_URL from .env or the environment,
whether the app is set up well, and whether the hosting API at HOSTING_BASE_URL can be reached. It posts a message to a user, and
one in the channel that you name, and deletes both.

  --channel ID|NAME  a channel that the app is a member of, to post, edit and delete a message in
  --user ID          the user who gets a direct message (default: the first of OWNERS)
  --no-gallery       skip validating every message and form of the app, which takes a few minutes
  --json             print one JSON object instead of lines
  --help             show this help

Exit code: 0 if nothing needs fixing, 1 if something does, 2 if the arguments are wrong.`;

/** The parts that the program works with. */
interface CheckParts {
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly system: System;
  /** Reads every message and form of the app. Passed in, since the product doesn't import the gallery. */
  readPieces(): Promise<readonly Piece[]>;
  /** Writes the result. */
  print(words: string): void;
  /** Writes what must not mix with the result: progress. */
  tell(words: string): void;
}

/** The outcome of one check. `failed` has to be fixed; a `warning` says what doesn't work or can't be checked. */
interface Finding {
  /** The check, or a part of one: `scope users:read`, `gallery: settings`. */
  readonly check: string;
  readonly status: Status;
  /** Slack's error code, or ours without an answer; null if nothing was refused. */
  readonly code: string | null;
  /** What was found, and how to fix it. */
  readonly text: string;
}

const MARKS: Readonly<Record<Status, string>> = {
  ok: '✓ ok     ',
  warning: '! warning',
  failed: '✗ FIX    ',
  skipped: '– skipped',
};

/**
 * Runs `npm run check:slack`, and returns the exit code: 0 if nothing has to be fixed, 1 if something does. Posts and deletes
 * test messages in Slack. Calls the hosting API without a key.
 * @throws UsageError
 */
export async function checkSlack(parts: CheckParts): Promise<number> {
  const { args, environment, print } = parts;
  const options = parseOptions(args);
  const { isJson } = options;
  const findings: Finding[] = [];
  const add = (finding: Finding) => {
    findings.push(finding);
    if (!isJson) print(`${MARKS[finding.status]} ${finding.check}: ${finding.text}`);
  };
  try {
    const config = parseSlackCheckConfig(environment);
    const tokens = [config.SLACK_BOT_TOKEN, ...(config.SLACK_APP_TOKEN ? [config.SLACK_APP_TOKEN] : [])];
    // Slack's answers may repeat a token.
    const clean = (text: string) =>
      tokens
        .reduce((rest, token) => rest.replaceAll(token.reveal(), '[token]'), text)
        .replace(/[\p{Cc}\p{Cf}]/gu, ' ');
    const report = (check: string, status: Status, text: string, code?: string) =>
      add({
        check: clean(check),
        status,
        code: code === undefined ? null : clean(code),
        text: clean(text),
      });
    await runChecks({ ...parts, config, wanted: options, report });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    add({ check: 'settings', status: 'failed', code: 'settings', text: `${error.faults.join('; ')}.` });
  }
  const count = (status: Status) => findings.filter((each) => each.status === status).length;
  const ok = count('failed') === 0;
  print(
    isJson
      ? JSON.stringify({ version: 1, ok, checks: findings }, undefined, 2)
      : `\n${count('ok')} ok, ${count('warning')} warnings, ${count('failed')} to fix, ${count('skipped')} skipped.`,
  );
  return ok ? 0 : 1;
}

interface Options extends Wanted {
  readonly isJson: boolean;
}

/** @throws UsageError */
function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseOrExplain(() =>
    parseArgs({
      args: [...args],
      options: {
        channel: { type: 'string' },
        user: { type: 'string' },
        'no-gallery': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    }),
  );
  const refuse = (problem: string) => {
    throw new UsageError(problem);
  };
  if (positionals.length > 0) refuse(`I didn't understand "${positionals.join(' ')}".`);
  const { user: userId } = values;
  const channel = values.channel?.replace(/^#/, '');
  if (channel !== undefined && !/^[^\s#@<>]{1,80}$/.test(channel))
    refuse("--channel needs a channel's ID or name, such as C012AB3CD or ops.");
  if (userId !== undefined && !/^[UW][A-Z0-9]{2,}$/.test(userId))
    refuse('--user needs a Slack user ID, such as U012AB3CD: "Copy member ID" in the profile.');
  return { channel, userId, hasGallery: !values['no-gallery'], isJson: values.json };
}
