import { describe, expect, it } from 'vitest';
import { HostingError, isExpected, Refusal } from '../../src/core/errors.ts';

describe('an expected failure', () => {
  it('is distinguished from a defect', () => {
    expect(isExpected(new Refusal('no_api_key', {}))).toBe(true);
    expect(isExpected(new HostingError('limit', 'no'))).toBe(true);
    expect(isExpected(new Error('limit'))).toBe(false);
    expect(isExpected({ code: 'limit' })).toBe(false);
    expect(isExpected(undefined)).toBe(false);
  });

  it('is logged with its code and without what was typed', () => {
    expect(new Refusal('unknown_server', { typed: 'hunter2' }).message).toBe('refused: unknown_server');
    expect(new HostingError('unknown_code', 'maybe', { unknownCode: 'hunter2' }).message).toBe(
      'hosting API: unknown_code',
    );
  });
});
