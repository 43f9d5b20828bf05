import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { composerOf, launchChromium, type Stage, say, setStage, wantChromium } from './support/browser.ts';

const chromiumPath = wantChromium('Who is in the workspace, on the page');

const log = (page: Page) => page.getByRole('log', { name: /^Messages/ });
const room = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name}\\b`) });

describe.skipIf(!chromiumPath)('who is in the workspace', () => {
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
    const { complaints } = stage;
    await stage.close();
    expect(complaints).toEqual([]);
  });

  it('shows names: of users, groups, and former members', async () => {
    const owner = await stage.open('olga');
    await composerOf(owner).fill('ask @on');
    await owner.getByRole('option', { name: /@oncall/ }).click();
    await composerOf(owner).press('Enter');
    await log(owner).getByText('@oncall').waitFor();
    await stage.app.post('C0OPS00001', {
      text: 'x',
      blocks: [{ type: 'section', text: { type: 'mrkdwn', text: '<@U0FORMER01> of <!subteam^S0PLATFORM>' } }],
    });
    await log(owner).getByText('@finn of @platform').waitFor();
    await owner.getByRole('button', { name: /Switch user/ }).click();
    expect(await owner.getByText('Finn Former').count()).toBe(0);
  });

  it('changes on the page when an admin changes it', async () => {
    const viewer = await stage.open('vera');
    await room(viewer, 'random').waitFor();
    stage.slack.admin.archive('#random');
    await room(viewer, 'random').waitFor({ state: 'detached' });
    stage.slack.admin.deleteChannel('#ops');
    await room(viewer, 'ops').waitFor({ state: 'detached' });
    await viewer.getByText('beginning of #general').waitFor();
  });

  it('remembers what each user has read, in all their windows', async () => {
    const [owner, viewer] = await Promise.all([stage.open('olga'), stage.open('vera')]);
    await room(owner, 'general').click();
    await say(owner, 'first');
    await room(viewer, 'general, 1 unread').click();
    await log(viewer).getByText('first').waitFor();
    await room(viewer, 'ops').click();
    await say(owner, 'second');
    await room(viewer, 'general, 1 unread').waitFor();
    const again = await stage.open('vera');
    await room(again, 'general, 1 unread').waitFor();
  });

  it('offers no commands to users of other organizations', async () => {
    const external = await stage.open('sam');
    expect(await composerOf(external).getAttribute('placeholder')).toBe('Message #acme-shared');
    await composerOf(external).fill('/v');
    expect(await external.getByRole('option').count()).toBe(0);
    await composerOf(external).press('Enter');
    await external
      .getByRole('alert')
      .getByText(/^Commands are not shared|is not a valid command$/)
      .waitFor();
  });
});
