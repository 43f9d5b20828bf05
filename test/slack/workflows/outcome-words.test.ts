import { expect, it } from 'vitest';
import { describeOutcome } from '../../../src/workflows/card.ts';
import type { RunOutcome } from '../../../src/workflows/run.ts';

const words = (outcome: RunOutcome, label = 'web-1') => describeOutcome({ action: 'reboot', label }, outcome);

it('a workflow’s step says that Slack refused its message, and doesn’t blame the hosting API', () => {
  for (const reason of ['no_answer', 'rate_limited', 'unauthorized', 'not_in_channel'])
    expect(words({ code: 'not_posted', details: { reason } })).not.toMatch(/hosting|key/);
  expect(words({ code: 'not_posted', details: { reason: 'not_in_channel' } })).toBe(
    'The message with the button couldn’t be posted in the channel (not in channel). Nothing was done.',
  );
});

it('a workflow’s step doesn’t claim that its message wasn’t posted when Slack didn’t answer', () => {
  expect(words({ code: 'not_posted', details: { reason: 'no_answer' } })).toBe(
    'Slack didn’t say whether the message with the button was posted in the channel. Nothing was done, and that button does nothing.',
  );
});

it('the outputs of a workflow’s step mention no one and link nothing, whatever servers and states are called', () => {
  const name = '<!channel> <@U1> <https://evil.example|web-1>';
  const outcomes: readonly RunOutcome[] = [
    { code: 'done', details: { label: name, state: name } },
    { code: 'unconfirmed', details: { state: name } },
    { code: 'unknown_server', details: {} },
    { code: 'wrong_state', details: { state: name } },
  ];
  for (const outcome of outcomes) {
    expect(words(outcome, name)).not.toMatch(/[<>]/);
    expect(words(outcome, name)).toContain('‹!channel›');
  }
});
