import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { z } from 'zod';
import { checkSlack } from '../../../src/cli/check-slack.ts';
import { listPieces } from '../../../src/sandbox/gallery/fixtures/surfaces.ts';
import { APP, USERS } from '../../../src/sandbox/slack/workspace.ts';
import { realSystem } from '../../../src/system.ts';
import { type LocalSlack, startSlack } from '../../support/slack/local-slack.ts';

const TOKEN = 'xoxb-4096-never-to-be-printed';

/** How `npm run check:slack` ended. */
export interface Run {
  readonly code: number;
  readonly output: string;
  readonly words: string;
  /** The pauses that it made, in milliseconds; those of a process are not known. */
  readonly pauses: readonly number[];
}

const linesOf = (words: readonly string[]) => words.map((line) => `${line}\n`).join('');

type Settings = Readonly<Record<string, string>>;

function environmentFor(apiUrl: string, settings: Settings) {
  return {
    SLACK_BOT_TOKEN: TOKEN,
    SLACK_API_URL: apiUrl,
    OWNERS: USERS.olga.id,
    PUBLIC_URL: '',
    HOSTING_BASE_URL: apiUrl,
    ...settings,
  };
}

/** Part of the gallery: all of it takes a thousand calls. */
export const SOME_PIECES = listPieces().filter(({ name }) => /, typical$|^(show|status)/.test(name));

/** Runs the program within this process, with a part of the gallery, and without waiting for pauses. Whatever happens, it must not print the token. */
export async function run(apiUrl: string, args: readonly string[], settings: Settings = {}): Promise<Run> {
  const environment = environmentFor(apiUrl, settings);
  const printed: string[] = [];
  const told: string[] = [];
  const pauses: number[] = [];
  const code = await checkSlack({
    args,
    environment,
    system: { ...realSystem, sleep: async (ms) => void pauses.push(ms) },
    readPieces: async () => SOME_PIECES,
    print: (words) => printed.push(words),
    tell: (words) => told.push(words),
  });
  const ended = { code, output: linesOf(printed), words: linesOf(told), pauses };
  expect(ended.output + ended.words).not.toContain(environment.SLACK_BOT_TOKEN || TOKEN);
  return ended;
}

/** Runs the program as its npm script does. */
export async function runProcess(
  apiUrl: string,
  args: readonly string[],
  settings: Settings = {},
): Promise<Run> {
  const environment = environmentFor(apiUrl, settings);
  const ended = await new Promise<Run>((resolve) => {
    execFile(
      'node_modules/.bin/tsx',
      ['src/sandbox/check-slack.ts', ...args],
      { env: { PATH: process.env.PATH, ...environment }, maxBuffer: 1e8 },
      (error, output, words) => resolve({ code: Number(error?.code ?? 0), output, words, pauses: [] }),
    );
  });
  expect(ended.output + ended.words).not.toContain(environment.SLACK_BOT_TOKEN || TOKEN);
  expect(ended.words).not.toMatch(/\n\s+at /);
  return ended;
}

const shape = z.strictObject({
  version: z.literal(1),
  ok: z.boolean(),
  checks: z.array(
    z.strictObject({
      check: z.string().min(1),
      status: z.enum(['ok', 'warning', 'failed', 'skipped']),
      code: z.string().nullable(),
      text: z.string().min(1),
    }),
  ),
});

/** One finding as `status code: text`, by check. */
export type Findings = Readonly<Record<string, string>>;

/** Runs it with `--json`; the exit code and `ok` have to agree. */
export async function runJson(
  apiUrl: string,
  args: readonly string[],
  settings: Settings = {},
  runIt: typeof run = run,
): Promise<Run & { readonly findings: Findings }> {
  const ended = await runIt(apiUrl, ['--json', ...args], settings);
  const { ok, checks } = shape.parse(JSON.parse(ended.output));
  expect(ended.code).toBe(ok ? 0 : 1);
  const found = checks.map(({ check, status, code, text }): [string, string] => [
    check,
    `${status}${code === null ? '' : ` ${code}`}: ${text}`,
  ]);
  return { ...ended, findings: Object.fromEntries(found) };
}

/** A local Slack with the app installed as the manifest has it. */
export function startWorkspace(): Promise<LocalSlack> {
  return startSlack({ hasRateLimits: false, app: { signingSecret: 'signing-secret', botToken: TOKEN } });
}

/** The messages of the app that outlast the check: all but ephemeral ones. */
export function listLeftBehind(slack: LocalSlack): readonly string[] {
  return slack
    .snapshot()
    .messages.filter(({ user }) => user === APP.botUserId)
    .map(({ channel, text }) => `${channel}: ${text}`);
}

/** How often a method was called. */
export function countCalls(slack: LocalSlack, method: string): number {
  return slack.traffic().filter(({ what }) => what === method).length;
}

/** Something that isn't Slack, and answers every request. */
export async function startOther(
  answer: (response: ServerResponse, authorization: string) => void,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    request.resume();
    answer(response, request.headers.authorization ?? '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
