import { describe, expect, it } from 'vitest';
import { createSlackClock } from '../../../src/slack/slack-api.ts';
import { realSystem } from '../../../src/system.ts';

const MINUTE_MS = 60_000;
/** In whole seconds, as Slack tells its time. */
const SLACKS = 1_800_000_000_000;
const dateOf = (at: number) => new Date(at).toUTCString();

/** Our clock, off by that much, and Slack's as we know it. */
function startOff(byMs: number) {
  const ours = { now: SLACKS + byMs };
  return { ours, clock: createSlackClock({ ...realSystem, now: () => ours.now }) };
}

describe('Slack’s clock', () => {
  it('is assumed to be ours until an answer of Slack shows its time', () => {
    const { ours, clock } = startOff(3 * MINUTE_MS);
    expect([clock.now(), clock.warnings()]).toEqual([ours.now, []]);
    clock.noteAnswer(dateOf(SLACKS), ours.now);
    expect(clock.now()).toBe(SLACKS);
    expect(clock.warnings().join()).toContain('3 min ahead of Slack’s');
    ours.now = SLACKS + 5000;
    clock.noteAnswer(dateOf(SLACKS + 5000), ours.now);
    expect([clock.now(), clock.warnings()]).toEqual([ours.now, []]);
  });

  it('is never behind the time at which a request was signed', () => {
    const { ours, clock } = startOff(-2 * MINUTE_MS);
    clock.noteRequest(SLACKS);
    expect(clock.now()).toBe(SLACKS);
    expect(clock.warnings().join()).toContain('2 min behind Slack’s');
    ours.now = SLACKS + 1000;
    clock.noteRequest(SLACKS + 1000);
    expect(clock.now()).toBe(SLACKS + 2 * MINUTE_MS + 1000);
    clock.noteAnswer(dateOf(SLACKS + 1000), ours.now);
    expect(clock.now()).toBe(SLACKS + 1000);
  });

  it('is not set back by a delayed request, or by a process that froze', () => {
    const { ours, clock } = startOff(0);
    clock.noteAnswer(dateOf(SLACKS), ours.now);
    ours.now = SLACKS + 4 * MINUTE_MS;
    clock.noteRequest(SLACKS);
    clock.noteAnswer(dateOf(SLACKS), SLACKS);
    expect(clock.now()).toBe(SLACKS + 4 * MINUTE_MS);
  });

  it.each([null, '', 'soon'])('is not set by an answer without a readable date: %j', (date) => {
    const { ours, clock } = startOff(3 * MINUTE_MS);
    clock.noteAnswer(date, ours.now);
    expect(clock.now()).toBe(ours.now);
  });
});
