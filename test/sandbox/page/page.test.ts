import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { LocalSlack } from '../../support/slack/local-slack.ts';
import { composerOf, findThreePorts, launchChromium, say, wantChromium, watch } from './support/browser.ts';

const chromiumPath = wantChromium('The test of the page');

/** More than a menu holds without a search. */
const SERVERS = 101;

let sandbox: Sandbox;
let slack: LocalSlack;
beforeAll(async () => {
  sandbox = await startSandbox({ port: await findThreePorts(), logLevel: 'error', isConnected: true });
  sandbox.hosting.seedServers(sandbox.account, SERVERS, 'web');
  slack = new LocalSlack(sandbox.slack);
});
afterAll(() => sandbox.close());

describe('the files of the page', () => {
  it('are served under a policy that blocks inline scripts, other servers and text as markup', async () => {
    const answer = await fetch(`${sandbox.url}/?as=olga`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(answer.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'");
    const html = await answer.text();
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/);
    const linked = html.match(/(?:src|href)="(?!data:)[^"]*"/g) ?? [];
    expect(linked.filter((each) => !each.includes('="/assets/'))).toEqual([]);
  });

  it('include the pages, and no other files', async () => {
    for (const path of ['/account', '/gallery'])
      expect((await fetch(sandbox.url + path)).headers.get('content-type')).toContain('text/html');
    expect((await fetch(`${sandbox.url}/client/main.tsx`)).status).toBe(404);
    expect((await fetch(`${sandbox.url}/../bundle.ts`)).status).toBe(404);
    expect((await fetch(sandbox.url, { method: 'POST' })).status).toBe(405);
  });
});

const PHONE = { viewport: { width: 390, height: 844 } };

const modal = (page: Page) => page.getByRole('dialog');
const log = (page: Page) => page.getByRole('log', { name: /^Messages/ });

describe.skipIf(!chromiumPath)('the page of the sandbox', () => {
  let browser: Browser;
  /** The owner's page, on which most of it is tried: loading one takes longer than a test. */
  let page: Page;
  const complaints: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium(chromiumPath ?? '');
    page = await openAs('olga');
  });
  afterAll(async () => {
    await browser.close();
    expect(complaints).toEqual([]);
    expect(slack.brokenRules().map(({ rule }) => rule)).toEqual([]);
  });

  /** Opens an address, in a browser window of its own. */
  async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    watch(page, complaints);
    await page.goto(sandbox.url + path);
    return page;
  }

  async function openAs(name: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await open(`/?as=${name}`, options);
    await composerOf(page).waitFor();
    return page;
  }

  it('shows an ephemeral answer to one user only, and not after a reload', async () => {
    const viewer = await openAs('vera');
    await say(page, 'good morning');
    await say(page, '/vps hello');
    await page.getByText('There’s no hello command').waitFor();
    await page.getByText('Only visible to you').waitFor();
    await log(viewer).getByText('good morning').waitFor();
    expect(await log(viewer).textContent()).not.toContain('hello command');
    await page.reload();
    await log(page).getByText('good morning').waitFor();
    expect(await log(page).textContent()).not.toContain('hello command');
    await viewer.context().close();
  });

  it('shows the confirmation dialog of a button, and does nothing when the user declines', async () => {
    await say(page, '/vps show web-1');
    const stop = log(page).getByRole('button', { name: /^Stop/ });
    await stop.click();
    const question = page.getByRole('alertdialog', { name: 'Stop web-1?' });
    expect(await question.textContent()).toContain('It goes offline immediately.');
    // The harmless answer has the focus: Enter declines.
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    expect(sandbox.hosting.requests({ operation: 'stop' })).toEqual([]);
    await stop.click();
    await question.getByRole('button', { name: 'Stop' }).click();
    await log(page).getByText('stopped').first().waitFor();
  });

  it('fills a form by keyboard, with errors at the fields', async () => {
    await say(page, '/vps create');
    await modal(page).getByRole('button', { name: 'Plan Choose a plan' }).focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await modal(page)
      .getByRole('button', { name: /^Plan small/ })
      .waitFor();
    const label = modal(page).getByRole('textbox', { name: 'Label' });
    await label.fill('web-999');
    await label.press('Enter');
    await modal(page).getByText('Please complete this required field.').first().waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Choose a location');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('option').first().waitFor({ state: 'detached' });
    expect(await modal(page).isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    await modal(page).waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Message #ops');

    await say(page, '/vps delete web-2');
    await modal(page).getByRole('textbox').fill('web-3');
    await modal(page).getByRole('button', { name: 'Delete' }).click();
    await modal(page).getByText('That doesn’t match').waitFor();
    expect(await modal(page).getByRole('textbox').getAttribute('aria-invalid')).toBe('true');
    await page.keyboard.press('Escape');
    await modal(page).waitFor({ state: 'detached' });
  });

  it('takes only what the app offers for what is typed into a menu that searches', async () => {
    await say(page, '/vps list');
    await log(page)
      .getByRole('button', { name: /Manage a server/ })
      .focus();
    await page.keyboard.type('web-10');
    // Too fast: the options on the screen are still those for what was typed before.
    await page.keyboard.press('Enter');
    await page.getByRole('option', { name: /^web-100/ }).waitFor();
    await page.getByRole('option', { name: /^web-20/ }).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    // The other card is that of web-1.
    await log(page).getByText('ssh root@').nth(1).waitFor();
  });

  it('shows replies in their thread, and takes more of them', async () => {
    await slack.posts('#ops', { attachments: [{ title: 'Disk full', text: 'on web-1' }] });
    const alert = page.getByRole('article').filter({ hasText: 'Disk full' });
    await alert.getByText('web-1').waitFor();
    await alert.hover();
    await alert.getByRole('button', { name: 'More message actions' }).click();
    await page.getByRole('menuitem', { name: 'Reply in thread' }).click();
    await page.getByRole('heading', { name: 'Thread' }).waitFor();
    await say(page, 'looking at it');
    await log(page).getByText('looking at it').waitFor();
    await say(page, '/vps hello');
    await page.getByText('is not supported in threads').waitFor();
    await page.getByRole('button', { name: 'Close thread' }).click();
    await alert.getByRole('button', { name: '1 reply' }).waitFor();
    expect(await log(page).textContent()).not.toContain('looking at it');
    await alert.getByRole('button', { name: '1 reply' }).click();
    await log(page).getByText('looking at it').waitFor();
    await page.getByRole('button', { name: 'Close thread' }).click();
  });

  it('completes commands, marks unread messages, and never reads what an app writes as HTML', async () => {
    await composerOf(page).pressSequentially('/v');
    await page.getByRole('option', { name: /^\/vps help/ }).waitFor();
    await page.keyboard.press('Tab');
    expect(await composerOf(page).inputValue()).toBe('/vps ');
    const evil = '&lt;img src=x onerror=alert(1)&gt; <javascript:alert(1)|press> *<https://a.example|bold>*';
    await slack.posts('#general', { text: `<!channel> ${evil}` });
    const general = page.getByRole('button', { name: 'general, 1 unread' });
    await general.waitFor();
    expect(await page.title()).toContain('(1)');
    await general.click();
    await log(page).getByText('<img src=x onerror=alert(1)> press').waitFor();
    await general.waitFor({ state: 'detached' });
    expect(await log(page).locator('img, a[href^=javascript]').count()).toBe(0);
    expect(await log(page).locator('strong a').getAttribute('rel')).toBe('noopener noreferrer');
  });

  it('shows the home of the app, and runs its shortcuts', async () => {
    await page.getByRole('button', { name: 'vps', exact: true }).click();
    await page.getByRole('tab', { name: 'Home' }).click();
    await page.getByText(`Servers (${SERVERS})`).waitFor();
    await page.getByRole('tab', { name: 'Messages' }).click();
    await page.getByRole('button', { name: 'Shortcuts' }).click();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Servers' }).waitFor();
    await page.keyboard.press('Escape');
    await modal(page).waitFor({ state: 'detached' });
  });

  it('switches the user: channels, ephemeral messages and address are those of the other user', async () => {
    await say(page, '/vps hello');
    await page.getByText('There’s no hello command').waitFor();
    await page.getByRole('button', { name: /^You are ?Olga Owner/ }).click();
    await page.getByRole('link', { name: /Sam Partner/ }).click();
    await page.getByRole('button', { name: /^You are ?Sam Partner/ }).waitFor();
    expect(await composerOf(page).getAttribute('placeholder')).toBe('Message #acme-shared');
    expect(await page.locator('.channel-name').allTextContents()).toEqual(['acme-shared']);
    expect(page.url()).toContain('as=U0STRANGER');
    await say(page, '/vps hello');
    await page.getByText('Commands are not shared with other organizations').waitFor();
    expect(await composerOf(page).inputValue()).toBe('/vps hello');
  });

  it('fits a phone: nothing is wider than the screen, the sidebar is a drawer', async () => {
    const phone = await openAs('otto', PHONE);
    await say(phone, '/vps list');
    await phone.getByText('1–10 of 100').waitFor();
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.viewport.width);
    await phone.getByRole('button', { name: 'Channels and users' }).click();
    await phone.getByRole('button', { name: 'random' }).click();
    await phone.getByRole('heading', { name: 'random' }).waitFor();
    await phone.getByRole('button', { name: /^Tour/ }).click();
    await phone.getByRole('tab', { name: 'Traffic' }).click();
    const traffic = phone.getByText('command /vps list').first();
    await traffic.waitFor();
    await phone.keyboard.press('Escape');
    await traffic.waitFor({ state: 'hidden' });
    await phone.context().close();
  });

  it('draws everything in the gallery on a phone, and nothing is wider than its frame', async () => {
    const phone = await open('/gallery', PHONE);
    await phone.locator('.piece').first().waitFor();
    const found = await phone.evaluate<{ pieces: number }>(LOOK);
    expect(found).toMatchObject({ wide: [], unknown: 0, page: PHONE.viewport.width });
    expect(found.pieces).toBeGreaterThan(100);
    await phone.context().close();
  });
});

const LOOK = `({
  pieces: document.querySelectorAll('.piece').length,
  wide: [...document.querySelectorAll('.piece')].filter((one) => one.scrollWidth > one.clientWidth + 1).map(({ id }) => id),
  unknown: document.querySelectorAll('.unknown').length,
  page: document.documentElement.scrollWidth,
})`;
