import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CHECK_SLACK_USAGE, checkSlack } from '../cli/check-slack.ts';
import { print, runProgram } from '../cli/program.ts';
import type { Piece } from '../cli/slack-checks.ts';
import { realSystem } from '../system.ts';

/** `npm run check:slack`: the program is the product's, the gallery is the sandbox's; here they meet. */
async function main(): Promise<void> {
  const settings = fileURLToPath(new URL('../../.env', import.meta.url));
  // The environment takes precedence over the file.
  if (existsSync(settings)) process.loadEnvFile(settings);
  process.exitCode = await checkSlack({
    args: process.argv.slice(2),
    environment: process.env,
    system: realSystem,
    readPieces,
    print,
    tell: (words) => process.stderr.write(`${words}\n`),
  });
}

/** Loaded late: a refused token should be shown immediately. */
async function readPieces(): Promise<readonly Piece[]> {
  const { listPieces } = await import('./gallery/fixtures/surfaces.ts');
  return listPieces();
}

runProgram({ usage: CHECK_SLACK_USAGE, commands: [], options: {}, run: main }, process.argv.slice(2));
