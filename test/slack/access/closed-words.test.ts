import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../src/core/errors.ts';
import { type ClosedState, REQUEST_STATES, type RoleRequestState } from '../../../src/requests/request.ts';
import { NOW } from '../../../src/sandbox/gallery/fixtures/samples.ts';
import { wordsOfError } from '../../../src/words.ts';

const CLOSED: readonly ClosedState[] = [...REQUEST_STATES.filter((state) => state !== 'open'), 'unknown'];
const ROLE_STATES = REQUEST_STATES.filter(
  (state): state is RoleRequestState => !['running', 'ended', 'canceled'].includes(state),
);

describe('a request that can’t be answered anymore', () => {
  it.each(CLOSED)('is described as %s, in a whole sentence', (state) => {
    const words = wordsOfError(new Refusal('request_over', { state, by: 'U0OWNER0001' }), '');
    expect(words).toMatch(/^This request .*\.$/);
    expect(words).not.toMatch(/undefined|_/);
  });
});

describe('an earlier request for a role', () => {
  it.each(ROLE_STATES)('that is %s is described', (state) => {
    const details = { at: NOW, state, againAt: NOW + 1 };
    const words = wordsOfError(new Refusal('asked_before', details), '');
    expect(words).toMatch(/^(You requested this|An owner declined this) on .*/);
    expect(words).not.toMatch(/undefined/);
  });
});
