import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';

const USUAL_PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where Chromium is; undefined when it is nowhere. */
export function findChromium(): string | undefined {
  const { CHROMIUM_PATH } = process.env;
  return CHROMIUM_PATH || USUAL_PLACES.find((path) => existsSync(path));
}

/** The same; says so when there is none. @throws Error in CI, where pages are never left untested */
export function wantChromium(what: string): string | undefined {
  const path = findChromium();
  if (!path && process.env.CI === 'true')
    throw new Error('CI needs Chromium: install it or set CHROMIUM_PATH');
  if (!path) process.stderr.write(`${what} is skipped: no Chromium here, and CHROMIUM_PATH is not set\n`);
  return path;
}

/** Starts Chromium so that it sends requests to the page alone. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** Notes errors in the console, and requests to other machines. */
export function watch(page: Page, complaints: string[]): void {
  page.on('console', (line) => {
    // A local Slack alone has no panel.
    if (line.type() === 'error' && !line.text().includes('404 (Not Found)')) complaints.push(line.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol !== 'data:' && hostname !== '127.0.0.1') complaints.push(`asked ${request.url()}`);
  });
}

export const composerOf = (page: Page) => page.getByRole('combobox', { name: /^Message/ });

/** Types a line and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  await composerOf(page).fill(text);
  await composerOf(page).press('Enter');
}

/** Finds three free ports in a row, as the sandbox takes them, below those that the system assigns; returns the first. */
export async function findThreePorts(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const servers = await Promise.allSettled([0, 1, 2].map((more) => occupy(port + more)));
    const taken = servers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    await Promise.all(taken.map((server) => new Promise((resolve) => server.close(resolve))));
    if (taken.length === 3) return port;
  }
}

/** Listens on a port. */
async function occupy(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
