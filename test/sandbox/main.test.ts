import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { PanelState } from '../../src/sandbox/panel/panel-api.ts';
import type { PageState } from '../../src/sandbox/slack/page-api.ts';
import { eventually } from '../support/eventually.ts';
import { findThreePorts } from './page/support/browser.ts';

const MAIN = fileURLToPath(new URL('../../src/sandbox/main.ts', import.meta.url));
const ARGUMENTS = ['--import', 'tsx', MAIN];
const OPS = 'C0OPS00001';
/** A start may bundle the page, on a machine that may be busy. */
const START_MS = 60_000;

/** Runs the sandbox to its end. */
function run(...args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...ARGUMENTS, ...args], (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

/** Starts the sandbox as people do, and waits for its address. */
async function start(...args: string[]): Promise<{ child: ChildProcess; url: string; output: string }> {
  const child = spawn(process.execPath, [...ARGUMENTS, ...args]);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const url = await eventually(() => {
    const found = /ready: {2}(http:\S+)/.exec(output)?.[1];
    if (!found && child.exitCode === null) throw new Error('not yet');
    return found;
  });
  if (url === undefined) throw new Error(`the sandbox ended:\n${output}`);
  return { child, url, output };
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGINT'): Promise<number | null> {
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
  return child.exitCode;
}

async function post(url: string, path: string, action: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(action) });
  expect(await answer.json()).toMatchObject({ ok: true });
}

async function read<T>(url: string, path: string): Promise<T> {
  return (await (await fetch(`${url}${path}`)).json()) as T;
}

describe('npm run sandbox', () => {
  test('prints an address, is not connected at first, and ends on a signal', {
    timeout: 2 * START_MS,
  }, async () => {
    const port = await findThreePorts();
    const startedMs = performance.now();
    const { child, url, output } = await start('--port', String(port));
    process.stderr.write(`The sandbox: ready after ${Math.round(performance.now() - startedMs)} ms\n`);
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(output).toContain(`http://127.0.0.1:${port}/account`);
    const { account, tour } = await read<PanelState>(url, '/panel/state');
    expect(account).toMatchObject({ connection: 'none', keys: [], balance: '100.00' });
    expect(tour.map(({ isDone }) => isDone)).toEqual([false, false, false, false, false]);
    const chat = JSON.stringify(await read<PageState>(url, '/page/state?as=U0OWNER001'));
    expect(chat).toContain('/vps connect');
    expect(await (await fetch(url)).text()).toContain('<!doctype html>');

    const isInUse = { code: 1, output: expect.stringMatching(`^Port ${port} is in use[^\n]*\n$`) };
    const others = await Promise.all([run('--port', String(port)), run('--port', String(port - 2))]);
    expect(others).toEqual([isInUse, isInUse]);
    expect(await end(child, 'SIGINT')).toBe(0);
  });

  test('has a help text, and refuses unknown options in a sentence', {
    timeout: START_MS,
  }, async () => {
    const [help, unknown, none] = await Promise.all([
      run('--help'),
      run('--prot', '4000'),
      run('--port', '99999'),
    ]);
    expect(help).toMatchObject({ code: 0, output: expect.stringContaining('--connected') });
    expect(unknown).toMatchObject({ code: 1, output: expect.stringContaining('--port PORT') });
    expect(none).toEqual({ code: 1, output: expect.stringMatching(/^"99999" is not a port[^\n]*\n$/) });
    expect(help.output + unknown.output).not.toMatch(/\n\s+at /);
  });

  test('starts connected if asked to, and in Socket Mode, in which nothing is taken over HTTP', {
    timeout: 2 * START_MS,
  }, async () => {
    const port = await findThreePorts();
    const { child, url } = await start('--port', String(port), '--connected', '--socket');
    await post(url, '/panel/do', { do: 'seed_servers' });
    const events = `http://127.0.0.1:${port + 1}/slack/events`;
    expect((await fetch(events, { method: 'POST' })).status).toBe(404);
    const operator = 'U0OPERATOR';
    await post(url, '/page/do', { as: operator, do: 'command', channel: OPS, text: '/vps list' });
    await eventually(async () =>
      expect(JSON.stringify(await read<PageState>(url, `/page/state?as=${operator}`))).toContain('web-20'),
    );
    expect(await end(child, 'SIGTERM')).toBe(0);
  });
});
