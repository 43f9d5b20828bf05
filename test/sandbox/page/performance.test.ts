import { describe, expect, it, onTestFinished } from 'vitest';
import { composerOf, launchChromium, say, setStage, wantChromium } from './support/browser.ts';

const chromiumPath = wantChromium('How quick the page is');
const MESSAGES = 2000;

/**
 * What the page must reach on a machine of its own; a busy one is given five times that, so that a failure means
 * something. The numbers themselves are printed.
 */
const GOALS = { interactiveMs: 1000, pressMs: 150, frameMs: 50 } as const;
const PATIENCE = 5;

interface Scrolled {
  readonly frames: number;
  readonly medianMs: number;
  readonly worstMs: number;
  /** How many frames took longer than the goal. */
  readonly late: number;
  readonly drawn: number;
}

describe.skipIf(!chromiumPath)('a channel with 2,000 messages', () => {
  it('opens within a second, answers a press immediately, and scrolls smoothly to its beginning', {
    timeout: 180_000,
  }, async () => {
    const browser = await launchChromium(chromiumPath ?? '');
    onTestFinished(() => browser.close());
    const stage = await setStage(browser);
    onTestFinished(() => stage.close());
    const people = [stage.slack.as('olga'), stage.slack.as('vera')];
    for (let count = 1; count <= MESSAGES; count += 1)
      await people[count % 2]?.types(
        `message ${count}: *web-${count}* is \`running\`, see https://x.test/${count}`,
      );
    const opener = await stage.open('olga');
    const startedMs = performance.now();
    await opener.reload({ waitUntil: 'commit' });
    await composerOf(opener).waitFor();
    await opener.getByText(`message ${MESSAGES}:`).waitFor();
    const interactiveMs = performance.now() - startedMs;

    await say(opener, '/vps hello');
    await opener.getByText('you typed hello').waitFor();
    const pressMs = await opener.evaluate<number>(SEND_AND_SEE);

    const scrolled = await opener.evaluate<Scrolled>(SCROLL);
    process.stderr.write(
      `${MESSAGES} messages: interactive after ${Math.round(interactiveMs)} ms (goal ${GOALS.interactiveMs}); ` +
        `from Enter to the app's answer ${Math.round(pressMs)} ms (goal ${GOALS.pressMs}); scrolled to the beginning in ` +
        `${scrolled.frames} frames, median ${scrolled.medianMs.toFixed(1)} ms, worst ${scrolled.worstMs.toFixed(0)} ms, ` +
        `${scrolled.late} over ${GOALS.frameMs} ms\n`,
    );
    expect(scrolled.drawn).toBeGreaterThanOrEqual(MESSAGES);
    expect(interactiveMs).toBeLessThan(GOALS.interactiveMs * PATIENCE);
    expect(pressMs).toBeLessThan(GOALS.pressMs * PATIENCE);
    expect(scrolled.medianMs).toBeLessThan(17 * PATIENCE);
    expect(stage.complaints).toEqual([]);
  });
});

/** Measured where it is seen: from the key to the frame in which the app's answer stands. */
const SEND_AND_SEE = `new Promise((resolve) => {
  const field = document.querySelector('.composer textarea');
  const count = () => document.querySelectorAll('.message.ephemeral').length;
  const before = count();
  field.value = '/vps hello';
  field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  requestAnimationFrame(() => {
    const startedMs = performance.now();
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
    const look = () => count() > before ? resolve(performance.now() - startedMs) : requestAnimationFrame(look);
    look();
  });
})`;

/** Scrolls as a thumb does, some lines in every frame, until the beginning is there. */
const SCROLL = `new Promise((resolve) => {
  const list = document.querySelector('.messages');
  const tookMs = [];
  let last = performance.now();
  const step = (now) => {
    tookMs.push(now - last);
    last = now;
    list.scrollBy(0, -400);
    const isDone = list.scrollTop === 0 && !document.querySelector('.older');
    if (!isDone && tookMs.length < 3000) return requestAnimationFrame(step);
    const sorted = tookMs.slice(1).toSorted((one, other) => one - other);
    resolve({
      frames: sorted.length,
      medianMs: sorted[Math.floor(sorted.length / 2)],
      worstMs: sorted.at(-1),
      late: sorted.filter((ms) => ms > ${GOALS.frameMs}).length,
      drawn: document.querySelectorAll('.message').length,
    });
  };
  requestAnimationFrame(step);
})`;
