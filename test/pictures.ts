import { statSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { postAlert } from '../src/sandbox/alert.ts';
import { type Sandbox, startSandbox } from '../src/sandbox/start.ts';
import {
  composerOf,
  findChromium,
  findThreePorts,
  launchChromium,
  say,
} from './sandbox/page/support/browser.ts';

// Takes the README's pictures from the sandbox: `npm run pictures`. An alert comes in, Otto reboots its server on his phone, and Mara
// orders another server at her desk.
const PHONE = { width: 390, height: 520 };
const DESKTOP = { width: 1280, height: 800 };
const MOST_BYTES = 150_000;

const log = (page: Page) => page.getByRole('log', { name: /^Messages/ });
const modal = (page: Page) => page.getByRole('dialog');

async function main(): Promise<void> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('There is no Chromium here. Set CHROMIUM_PATH.');
  const sandbox = await startSandbox({ port: await findThreePorts(), logLevel: 'silent' });
  const browser = await launchChromium(executablePath);
  try {
    sandbox.hosting.seedServers(sandbox.account, 6, 'web');
    await postAlert(sandbox.slack.world, 'web-3');
    await rebootOnPhone(sandbox, browser);
    await createAtDesk(sandbox, browser);
  } finally {
    await browser.close();
    await sandbox.close();
  }
}

async function rebootOnPhone(sandbox: Sandbox, browser: Browser): Promise<void> {
  const page = await openPage(sandbox, browser, 'otto', PHONE);
  const alert = page.getByRole('article', { name: /^Alertmanager/ });
  await alert.hover();
  await alert.getByRole('button', { name: 'More message actions' }).click();
  await page.getByRole('menuitem', { name: 'Manage server…' }).click();
  await modal(page)
    .getByRole('button', { name: /^Reboot/ })
    .click();
  await modal(page).getByText('running').first().waitFor();
  await page
    .getByText(/rebooted/)
    .first()
    .waitFor();
  await page.keyboard.press('Escape');
  await modal(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /^1 reply/ }).click();
  await log(page).getByText(/ s\)/).waitFor();
  await take(page, 'docs/alert.png');
}

async function createAtDesk(sandbox: Sandbox, browser: Browser): Promise<void> {
  const page = await openPage(sandbox, browser, 'mara', DESKTOP);
  await say(page, '/vps create micro ams debian-13 web-7');
  await modal(page).getByRole('button', { name: 'Create and pay' }).click();
  await log(page).getByText('Root password of').waitFor();
  await page.keyboard.press('Escape');
  await modal(page).waitFor({ state: 'detached' });
  await log(page).getByText('ssh root@').first().waitFor();
  await page.getByRole('button', { name: /^Tour/ }).click();
  await page.getByRole('heading', { name: 'Behind the scenes' }).waitFor({ state: 'detached' });
  await take(page, 'docs/desktop.png');
}

async function openPage(
  { url }: Sandbox,
  browser: Browser,
  as: string,
  viewport: typeof PHONE,
): Promise<Page> {
  const page = await browser.newPage({ viewport, colorScheme: 'light' });
  page.setDefaultTimeout(30_000);
  await page.goto(`${url}/?as=${as}#ops`);
  await composerOf(page).waitFor();
  return page;
}

async function take(page: Page, path: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.screenshot({ path });
  const { size } = statSync(path);
  if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes, more than ${MOST_BYTES}`);
  process.stdout.write(`${path}: ${Math.round(size / 1000)} kB\n`);
}

await main();
