import { expect, test } from 'vitest';
import { readTypedMessage } from '../../src/slack/dispatch-events.ts';
import { parseTyped, splitSubcommand } from '../../src/slack/kit/typed-words.ts';
import { startCpuTimer } from '../support/cpu-time.ts';
import { EVENT_SAMPLES, SENDERS } from '../support/payloads/samples.ts';

/** Slack takes no longer message. */
const LENGTH = 40_000;
/** Far more than it takes; each of these took seconds once. */
const MOST_MS = 250;

const typed = (text: string) => {
  const sample = EVENT_SAMPLES['message.im'](SENDERS['a member of a plain workspace']);
  const message = readTypedMessage({ ...sample, event: { ...Object(sample.event), text } });
  const { rest } = splitSubcommand(message?.text ?? '');
  return parseTyped(rest, ['label', 'owner']);
};

// A user who can write to the app, without any role, would otherwise hold up all requests.
test.each([
  ['backticks that are never closed', `${'`'.repeat(LENGTH - 1)}a`],
  ['quotation marks within quotation marks', '"'.repeat(LENGTH)],
  ['apostrophes within apostrophes', `${"'".repeat(LENGTH - 1)}!`],
  ['full stops with something after them', `${'.'.repeat(LENGTH - 1)}a`],
  ['links that are never closed', `list ${'<http://'.repeat(LENGTH / 8 - 1)}`],
  ['angle brackets', `list ${'<'.repeat(LENGTH - 5)}`],
  ['accents out of order', `a${'\u0307'.repeat(LENGTH / 2 - 1)}${'\u0323'.repeat(LENGTH / 2)}`],
])('a message of %s holds up nobody', (_name, text) => {
  const readMs = startCpuTimer();
  typed(text);
  expect(readMs()).toBeLessThan(MOST_MS);
});
