import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { composerOf, findThreePorts, launchChromium, wantChromium, watch } from './support/browser.ts';

const chromiumPath = wantChromium('The tour of the sandbox');

const log = (page: Page) => page.getByRole('log', { name: /^Messages/ });
const modal = (page: Page) => page.getByRole('dialog');
const step = (page: Page, title: string) => page.locator('.step', { hasText: title });

/** Opens a step of the tour if it is not open, and puts its command into the composer. */
async function takeCommand(page: Page, title: string, command: string): Promise<void> {
  await page.getByRole('tab', { name: /^Tour/ }).click();
  const head = step(page, title).getByRole('button', { name: title });
  if ((await head.getAttribute('aria-expanded')) === 'false') await head.click();
  await step(page, title).getByRole('button', { name: command, exact: true }).click();
  await expect.poll(() => composerOf(page).inputValue()).toBe(command);
}

/** The step has ticked itself off. */
async function seeDone(page: Page, title: string): Promise<void> {
  await step(page, title).getByRole('img', { name: 'done', exact: true }).waitFor();
}

/** Fills the form of a create by keyboard and mouse, up to the press that pays. */
async function order(page: Page, label: string): Promise<void> {
  for (const name of [/^Plan/, /^Location/, /^Image/]) {
    await modal(page).getByRole('button', { name }).click();
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
  }
  await modal(page).getByRole('textbox', { name: 'Label' }).fill(label);
  await modal(page).getByRole('button', { name: 'Review' }).click();
  await modal(page).getByRole('button', { name: 'Create and pay' }).click();
}

async function closeModal(page: Page): Promise<void> {
  await modal(page).getByRole('button', { name: 'Close', exact: true }).first().click();
  await modal(page).waitFor({ state: 'detached' });
}

describe.skipIf(!chromiumPath)('the tour of the sandbox', () => {
  let browser: Browser;
  let context: BrowserContext;
  let sandbox: Sandbox;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    sandbox = await startSandbox({ port: await findThreePorts(), logLevel: 'fatal', isConnected: false });
    browser = await launchChromium(chromiumPath ?? '');
    context = await browser.newContext({ viewport: { width: 1400, height: 900 }, colorScheme: 'light' });
    context.on('page', (opened) => watch(opened, complaints));
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox?.close();
  });

  it('ticks each of the five steps off when it has happened', { timeout: 240_000 }, async ({
    onTestFailed,
  }) => {
    onTestFailed(async () => {
      await page.screenshot({ path: 'test-artifacts/tour-failed.png' });
    });
    await page.goto(sandbox.url, { waitUntil: 'commit' });
    await composerOf(page).waitFor();
    const phone = await openPhone();
    await connect();
    await create();
    await reboot();
    await loseAnAnswer();
    await remove();
    await page.getByRole('heading', { name: 'Tour complete' }).waitFor();
    await phone.getByRole('button', { name: 'Panel', exact: true }).waitFor();
    expect(complaints).toEqual([]);
    expect(sandbox.slack.world.journal.brokenRules()).toEqual([]);
  });

  /** A colleague who watches with the panel closed: its button counts the steps all the same. */
  async function openPhone(): Promise<Page> {
    const phone = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    watch(phone, complaints);
    await phone.goto(`${sandbox.url}/?as=vera`);
    await phone.getByRole('button', { name: 'Tour 0/5' }).waitFor();
    return phone;
  }

  async function connect(): Promise<void> {
    const title = 'Connect the hosting account';
    await page.getByRole('button', { name: 'Create an API key' }).click();
    const key = (await page.locator('.key-maker pre').textContent()) ?? '';
    await takeCommand(page, title, '/vps connect');
    await composerOf(page).press('Enter');
    const opening = context.waitForEvent('page');
    await log(page)
      .getByRole('button', { name: /^Enter the API key/ })
      .click();
    const form = await opening;
    await form.getByLabel('API key').fill(key);
    await form.getByRole('button', { name: 'Connect' }).click();
    await form.getByText('Your key works').waitFor();
    await form.close();
    await seeDone(page, title);
  }

  async function create(): Promise<void> {
    const title = 'Create a server';
    await takeCommand(page, title, '/vps create');
    await composerOf(page).press('Enter');
    await order(page, 'tour-1');
    await log(page).getByRole('button', { name: "I've saved it" }).waitFor();
    const password = (await log(page).locator('.pre pre').textContent()) ?? '';
    await seeDone(page, title);
    await closeModal(page);
    await seeNowhereElse(password);
    await log(page).getByRole('button', { name: "I've saved it" }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Erase' }).click();
    await expect.poll(() => log(page).textContent()).not.toContain(password);
  }

  async function seeNowhereElse(password: string): Promise<void> {
    expect(password.length).toBeGreaterThan(8);
    await page.getByRole('tab', { name: 'Traffic' }).click();
    // All at once: rows are added on top, so a click by position could close what the one before it opened.
    await page.locator('.request').evaluateAll((rows) => {
      for (const row of rows) row.setAttribute('open', '');
    });
    const traffic = page.locator('.traffic');
    await traffic.getByText('rich_text_preformatted').first().waitFor();
    expect(await traffic.textContent()).not.toContain(password);
  }

  async function reboot(): Promise<void> {
    const alert = page.getByRole('article', { name: /^Alertmanager/ });
    await alert.getByText('InstanceDown').waitFor();
    await alert.hover();
    await alert.getByRole('button', { name: 'More message actions' }).click();
    await page.getByRole('menuitem', { name: 'Manage server…' }).click();
    await modal(page)
      .getByRole('button', { name: /^Reboot/ })
      .click();
    await page
      .getByText(/rebooted/)
      .first()
      .waitFor();
    await closeModal(page);
    await page.getByRole('tab', { name: /^Tour/ }).click();
    await seeDone(page, 'Reboot it from an alert');
  }

  async function loseAnAnswer(): Promise<void> {
    await takeCommand(page, 'Survive a lost response', '/vps create');
    const fault = step(page, 'Survive a lost response').getByRole('switch', {
      name: /^Drop the next response/,
    });
    await fault.click();
    await expect.poll(() => fault.getAttribute('aria-checked')).toBe('true');
    await composerOf(page).press('Enter');
    await order(page, 'tour-2');
    await seeDone(page, 'Survive a lost response');
    await closeModal(page);
    await page.getByRole('tab', { name: 'Hosting account' }).click();
    const charges = page.getByRole('region', { name: 'Charges and refunds' });
    expect(await charges.getByText('create tour-2').count()).toBe(1);
  }

  async function remove(): Promise<void> {
    await takeCommand(page, 'Delete it', '/vps delete');
    await composerOf(page).pressSequentially(' tour-1');
    await page.keyboard.press('Enter');
    await modal(page).getByRole('textbox').fill('tour-1');
    await modal(page).getByRole('button', { name: 'Delete' }).click();
    await seeDone(page, 'Delete it');
    if (await modal(page).isVisible()) await closeModal(page);
  }
});
