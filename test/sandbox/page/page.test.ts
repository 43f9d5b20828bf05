import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { composerOf, launchChromium, type Stage, say, setStage, wantChromium } from './support/browser.ts';

const chromiumPath = wantChromium('The test of the page');

const modal = (page: Page) => page.getByRole('dialog');
const log = (page: Page) => page.getByRole('log', { name: /^Messages/ });

describe.skipIf(!chromiumPath)('the page of the sandbox', () => {
  let browser: Browser;
  let stage: Stage;
  beforeAll(async () => {
    browser = await launchChromium(chromiumPath ?? '');
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    stage = await setStage(browser);
  });
  afterEach(async () => {
    const { complaints, slack } = stage;
    await stage.close();
    expect(complaints).toEqual([]);
    expect(slack.brokenRules().map(({ rule }) => rule)).toEqual([]);
  });

  it('shows an ephemeral answer to one user only, and not after a reload', async () => {
    const [owner, viewer] = await Promise.all([stage.open('olga'), stage.open('vera')]);
    await say(owner, 'good morning');
    await say(owner, '/vps hello');
    await owner.getByText('you typed hello').waitFor();
    await owner.getByText('Only visible to you').waitFor();
    await log(viewer).getByText('good morning').waitFor();
    expect(await log(viewer).textContent()).not.toContain('you typed');
    await owner.reload();
    await log(owner).getByText('good morning').waitFor();
    expect(await log(owner).textContent()).not.toContain('you typed');
  });

  it('shows the confirmation dialog of a button, and does nothing when the user declines', async () => {
    const page = await stage.open('olga');
    await say(page, '/vps show web-1');
    await page.getByRole('button', { name: 'Stop' }).click();
    const question = page.getByRole('alertdialog', { name: 'Stop the server?' });
    expect(await question.textContent()).toContain('web-1 will be switched off');
    // The harmless answer has the focus: Enter declines.
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    expect(stage.app.received.filter(({ kind }) => kind === 'block_actions')).toEqual([]);
    await page.getByRole('button', { name: 'Stop' }).click();
    await question.getByRole('button', { name: 'Stop' }).click();
    await log(page).getByText('stopped').waitFor();
  });

  it('fills a modal by keyboard, with errors at the fields, and returns from a second one', async () => {
    const page = await stage.open('mara');
    await say(page, '/vps create');
    await modal(page).getByRole('button', { name: 'Plan Choose a plan' }).focus();
    await page.keyboard.type('med');
    // Too fast: the options on the screen are still those for what was typed before.
    await page.keyboard.press('Enter');
    await page.getByRole('option', { name: /^medium/ }).waitFor();
    await page.getByRole('option', { name: /^small/ }).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await modal(page).getByRole('button', { name: 'Plan medium · 9.90 a month' }).waitFor();
    const label = modal(page).getByRole('textbox', { name: 'Label' });
    await label.fill('web-1');
    await label.press('Enter');
    await modal(page).getByText('Please complete this required field.').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Choose a location');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await modal(page).getByRole('button', { name: 'Review' }).click();
    await modal(page).getByText('There is a server with that label already').waitFor();
    expect(await label.getAttribute('aria-invalid')).toBe('true');
    await label.fill('web-9');
    await modal(page).getByRole('button', { name: 'Review' }).click();
    await page.getByRole('dialog', { name: 'Review and pay' }).waitFor();
    await modal(page).getByRole('button', { name: 'Back' }).click();
    await page.getByRole('dialog', { name: 'Create a server' }).waitFor();
    expect(await label.inputValue()).toBe('web-9');
    await modal(page).getByRole('button', { name: /^Plan/ }).click();
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('option').first().waitFor({ state: 'detached' });
    expect(await modal(page).isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    await modal(page).waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Message #ops');
  });

  it('completes commands, and marks unread messages in other channels', async () => {
    const page = await stage.open('olga');
    await composerOf(page).pressSequentially('/v');
    await page.getByRole('option', { name: /^\/vps help/ }).waitFor();
    await page.keyboard.press('Tab');
    expect(await composerOf(page).inputValue()).toBe('/vps ');
    await stage.app.call('chat.postMessage', { channel: 'C0GENERAL1', text: 'hello <!channel>' });
    const general = page.getByRole('button', { name: 'general, 1 unread' });
    await general.waitFor();
    expect(await page.title()).toContain('(1)');
    await general.click();
    await log(page).getByText('hello').waitFor();
    await general.waitFor({ state: 'detached' });
  });

  it('never reads what an app writes as HTML', async () => {
    const page = await stage.open('olga');
    const evil = '&lt;img src=x onerror=alert(1)&gt; <javascript:alert(1)|press> *<https://a.example|bold>*';
    await stage.app.call('chat.postMessage', { channel: 'C0OPS00001', text: evil });
    await log(page).getByText('<img src=x onerror=alert(1)> press').waitFor();
    expect(await log(page).locator('img, a[href^=javascript]').count()).toBe(0);
    expect(await log(page).locator('strong a').getAttribute('rel')).toBe('noopener noreferrer');
  });

  it('switches the user: channels, ephemeral messages and address are those of the other user', async () => {
    const page = await stage.open('olga');
    await say(page, '/vps hello');
    await page.getByText('you typed hello').waitFor();
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
    const page = await stage.open('otto', { viewport: { width: 390, height: 844 } });
    await say(page, '/vps list');
    await page.getByText('1–10 of 34').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.getByRole('button', { name: 'Channels and users' }).click();
    await page.getByRole('button', { name: 'random' }).click();
    await page.getByRole('heading', { name: 'random' }).waitFor();
    await page.getByRole('button', { name: 'Panel', exact: true }).click();
    await page.getByRole('tab', { name: 'Traffic' }).click();
    await page.getByText('command /vps list').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('command /vps list').waitFor({ state: 'hidden' });
  });

  it('shows replies in their thread, and takes more of them', async () => {
    const page = await stage.open('olga');
    await stage.slack.posts('#ops', {
      attachments: [{ title: 'Disk full', text: 'on web-1' }],
    });
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
  });

  it('shows the home of the app, and runs its shortcuts', async () => {
    const page = await stage.open('olga');
    await page.getByRole('button', { name: 'vps', exact: true }).click();
    await page.getByRole('tab', { name: 'Home' }).click();
    await page.getByRole('heading', { name: 'Your servers' }).waitFor();
    await page.getByRole('tab', { name: 'Messages' }).click();
    await page.getByRole('button', { name: 'Shortcuts' }).click();
    await page.keyboard.press('Enter');
    await expect.poll(() => stage.app.last()).toMatchObject({ callback_id: 'create-server' });
  });
});
