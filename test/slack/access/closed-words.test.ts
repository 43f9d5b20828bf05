import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../src/core/errors.ts';
import { ACCESS_REQUEST_STATES, APPROVAL_STATES, type ClosedState } from '../../../src/requests/decision.ts';
import { NOW } from '../../../src/sandbox/gallery/fixtures/samples.ts';
import { wordsOfError } from '../../../src/words.ts';

const STATES = [...new Set([...APPROVAL_STATES, ...ACCESS_REQUEST_STATES])];
const CLOSED: readonly ClosedState[] = [...STATES.filter((state) => state !== 'open'), 'unknown'];

describe('a request that can’t be answered anymore', () => {
  it.each(CLOSED)('is described as %s, in a whole sentence', (state) => {
    const words = wordsOfError(new Refusal('request_over', { state, by: 'U0OWNER0001' }), '');
    expect(words).toMatch(/^This request .*\.$/);
    expect(words).not.toMatch(/undefined|_/);
  });
});

describe('an earlier request for a role', () => {
  it.each(ACCESS_REQUEST_STATES)('that is %s is described', (state) => {
    const details = { at: NOW, state, againAt: NOW + 1 };
    const words = wordsOfError(new Refusal('asked_before', details), '');
    expect(words).toMatch(/^(You requested this|An owner declined this) on .*/);
    expect(words).not.toMatch(/undefined/);
  });
});
