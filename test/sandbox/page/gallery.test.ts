import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { surfaces } from '../../../src/sandbox/gallery/fixtures/surfaces.ts';

import { arrange, makePieces, sentencesOf } from '../../../src/sandbox/gallery/pieces.ts';
import { withGallery } from '../../../src/sandbox/gallery/serve.ts';
import { createPages } from '../../../src/sandbox/page/serve.ts';
import { launchChromium, serveFiles, wantChromium, watch } from './support/browser.ts';

let origin = '';
beforeAll(async () => {
  const served = await serveFiles(withGallery(await createPages()));
  origin = served.origin;
  return served.close;
});

describe('the gallery', () => {
  it('leaves out no sentence', () => {
    const all = makePieces(surfaces);
    const shown = new Set(sentencesOf(arrange(all)));
    const missing = all.filter(({ payload }) => sentencesOf(payload).some((each) => !shown.has(each)));
    expect(missing.map(({ name }) => name)).toEqual([]);
    expect(all.length).toBeGreaterThan(800);
  });

  it('answers this machine only', async () => {
    const answer = await fetch(`${origin}/gallery.json`, { headers: { 'sec-fetch-site': 'cross-site' } });
    expect(answer.status).toBe(403);
    expect((await fetch(`${origin}/gallery.json`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${origin}/gallery`)).headers.get('content-type')).toContain('text/html');
  });
});

const chromiumPath = wantChromium('The gallery in a browser');

describe.skipIf(!chromiumPath)('the page of the gallery', () => {
  let browser: Browser;
  const complaints: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium(chromiumPath ?? '');
  });
  afterAll(() => browser?.close());

  async function open(path: string, width: number): Promise<Page> {
    const context = await browser.newContext({ viewport: { width, height: 900 } });
    const page = await context.newPage();
    watch(page, complaints);
    await page.goto(origin + path);
    await page.locator('.piece').first().waitFor();
    return page;
  }

  it('draws everything, wide and on a phone, and nothing is wider than its frame', {
    timeout: 180_000,
  }, async () => {
    for (const width of [1400, 390]) {
      const page = await open('/gallery', width);
      const found = await page.evaluate<{ pieces: number; wide: string[]; unknown: number; page: number }>(
        LOOK,
      );
      expect(found.pieces).toBeGreaterThan(100);
      expect(found).toMatchObject({ wide: [], unknown: 0, page: width });
      await page.context().close();
    }
    expect(complaints).toEqual([]);
  });
});

const LOOK = `({
  pieces: document.querySelectorAll('.piece').length,
  wide: [...document.querySelectorAll('.piece')].filter((one) => one.scrollWidth > one.clientWidth + 1).map(({ id }) => id),
  unknown: document.querySelectorAll('.unknown').length,
  page: document.documentElement.scrollWidth,
})`;
