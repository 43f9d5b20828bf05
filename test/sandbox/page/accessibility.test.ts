import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults, ImpactValue, Result } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { composerOf, findThreePorts, launchChromium, say, wantChromium } from './support/browser.ts';

const chromiumPath = wantChromium('The accessibility of the pages');

const WIDTHS = [1280, 390];
/** So much that the chat need not scroll: axe gives up on tables that are scrolled out of sight. */
const HEIGHT = 3000;
const THEMES = ['light', 'dark'] as const;

/** In the dark, only what depends on colors: everything else is the same document. `region` is slow and never serious. */
const OPTIONS = {
  light: `{ resultTypes: ['violations'], rules: { region: { enabled: false } } }`,
  dark: `{ resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block'] }`,
};

/** Part of the page where the rest was looked at before; all of it where that part is hidden. */
const contextOf = (part: string) =>
  `document.querySelector('${part}')?.checkVisibility() ? '${part}' : document`;

/** The page has followed the change of its size. */
const DRAWN = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

/** A rule that failed itself is not one that found nothing. */
const isSkipped = ({ nodes }: Result) =>
  nodes.some(({ none }) => none.some(({ id }) => id === 'error-occurred'));

const isSerious = ({ impact }: { readonly impact?: ImpactValue }) =>
  impact === 'serious' || impact === 'critical';

const log = (page: Page) => page.getByRole('log', { name: /^Messages/ });
const modal = (page: Page) => page.getByRole('dialog');

// Side by side: each page has a process of its own.
describe.skipIf(!chromiumPath)('what axe-core finds serious or critical', { concurrent: true }, () => {
  let browser: Browser;
  let sandbox: Sandbox;
  let axe = '';

  beforeAll(async () => {
    axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    sandbox = await startSandbox({ port: await findThreePorts(), logLevel: 'fatal', isConnected: true });
    browser = await launchChromium(chromiumPath ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox?.close();
  });

  async function open(url: string): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(60_000);
    await page.goto(url);
    return page;
  }

  /** Each rule that fails, with the first place and the first look where it does. */
  async function faultsOf(page: Page, part = 'body'): Promise<string[]> {
    await page.evaluate(axe);
    const faults = new Map<string, string>();
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: HEIGHT });
        await page.evaluate(DRAWN);
        const { violations, passes, incomplete } = await page.evaluate<AxeResults>(
          `axe.run(${contextOf(part)}, ${OPTIONS[colorScheme]})`,
        );
        expect(passes.length + violations.length).toBeGreaterThan(colorScheme === 'light' ? 5 : 0);
        expect(incomplete.filter(isSkipped).map(({ id }) => id)).toEqual([]);
        for (const { id, impact, nodes } of violations.filter(isSerious)) {
          const places = nodes.map(({ target, html }) => `${target.join(' ')} ${html.slice(0, 120)}`);
          faults.set(
            id,
            faults.get(id) ??
              `${impact} ${id}, ${colorScheme}, ${width} px: ${places[0]} (of ${places.length})`,
          );
        }
      }
    }
    return [...faults.values()];
  }

  it('is nothing in the chat, with messages, the panel and an open form', { timeout: 180_000 }, async ({
    expect,
  }) => {
    const page = await open(`${sandbox.url}/?as=olga`);
    await composerOf(page).waitFor();
    for (const command of ['/vps', '/vps catalog', '/vps access', '/vps audit']) await say(page, command);
    await expect.poll(() => log(page).locator('.message').count()).toBeGreaterThan(3);
    expect(await faultsOf(page)).toEqual([]);
    for (const tab of ['Hosting account', 'Traffic']) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.getByRole('tab', { name: tab }).click();
      expect(await faultsOf(page, '.panel')).toEqual([]);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await say(page, '/vps create');
    await modal(page).getByRole('button', { name: 'Review' }).waitFor();
    expect(await faultsOf(page, '.modal')).toEqual([]);
    await page.keyboard.press('Escape');
    await modal(page).waitFor({ state: 'detached' });
    await page.close();
  });

  it('is nothing on the page of the hosting account', { timeout: 180_000 }, async () => {
    const page = await open(sandbox.accountUrl);
    await page.getByRole('heading', { name: 'Faults' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.close();
  });

  it('is nothing on the page that takes the API key', { timeout: 180_000 }, async () => {
    const chat = await open(`${sandbox.url}/?as=olga`);
    await composerOf(chat).waitFor();
    await say(chat, '/vps connect');
    // The other tests of this file keep the browser busy meanwhile.
    const button = log(chat).getByRole('button', { name: /^Enter the API key/ });
    await button.first().waitFor({ timeout: 120_000 });
    // On a busy machine, the app may post the button twice.
    const [form] = await Promise.all([chat.context().waitForEvent('page'), button.first().click()]);
    await form.getByLabel('API key').waitFor();
    expect(await faultsOf(form)).toEqual([]);
    await form.getByLabel('API key').fill('no such key');
    await form.getByRole('button', { name: 'Connect' }).click();
    await form.getByRole('alert').waitFor();
    expect(await faultsOf(form)).toEqual([]);
    await chat.context().close();
  });
});
