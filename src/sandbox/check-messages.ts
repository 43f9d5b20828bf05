import { existsSync } from 'node:fs';
import { WebClient } from '@slack/web-api';
import { note, print } from '../cli/program.ts';
import { listPieces } from './gallery/fixtures/surfaces.ts';

/** Pieces between two lines of progress. */
const STEP = 100;

/**
 * `npm run check:messages`: lets the real Slack validate every message and form of the app, with `SLACK_BOT_TOKEN`. Posts nothing.
 * The client waits as long as Slack limits it. Exit code 1 if Slack refuses one, which is a bug of the app.
 */
async function main(): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const { SLACK_BOT_TOKEN: token, SLACK_API_URL: slackApiUrl = 'https://slack.com/api/' } = process.env;
  if (!token) throw new Error('SLACK_BOT_TOKEN is missing.');
  const slack = new WebClient(token, { slackApiUrl });
  const pieces = new Map(listPieces().map((piece) => [JSON.stringify(piece.content), piece]));
  let refused = 0;
  let checked = 0;
  for (const { name, kind, content } of pieces.values()) {
    const answer = await slack.apiCall('blocks.validate', { [kind]: content }).catch(answerOf);
    if (!answer.ok) print(`${name}: ${JSON.stringify(answer)}`);
    refused += answer.ok ? 0 : 1;
    if (++checked % STEP === 0) note(`${checked} of ${pieces.size} messages and forms checked.`);
  }
  print(`${checked - refused} of ${checked} messages and forms are accepted.`);
  process.exitCode = refused === 0 ? 0 : 1;
}

/** Slack's refusal of one piece; any other error ends the check. */
function answerOf(error: unknown): { readonly ok: boolean } {
  if (error instanceof Error && 'data' in error && /invalid_(blocks|message|view)/.test(error.message))
    return error.data as { ok: false };
  throw error;
}

await main();
