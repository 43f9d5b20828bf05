import { describe, expect, test } from 'vitest';
import { HostingError, Refusal } from '../../src/core/errors.ts';
import { PURCHASE_REFUSALS, refusalOf, unconfirmedReasonOf } from '../../src/purchases/operation.ts';
import { HOSTING_CODES, sampleDetails } from '../../src/sandbox/gallery/fixtures/reasons.ts';

describe('the refusal that an error proves', () => {
  test.each(PURCHASE_REFUSALS)('keeps the code and the details of %s', (code) => {
    const details = sampleDetails('web-1')[code];
    expect(refusalOf(new Refusal(code, details))).toEqual({ code, details });
  });

  test.each(HOSTING_CODES)('is the hosting API’s code, without its text (%s)', (code) => {
    const error = new HostingError(code, 'no', { unknownCode: 'secret', status: 402 });
    expect(refusalOf(error)).toEqual({ code, details: {} });
  });

  test('does not exist for a defect, or for a rule that no confirmed purchase can break', () => {
    expect(refusalOf(new TypeError('x'))).toBeUndefined();
    expect(refusalOf(new Refusal('last_owner', {}))).toBeUndefined();
  });
});

describe('the reason why an order is unconfirmed', () => {
  test.each(HOSTING_CODES)('is one of the known reasons for every code of the hosting API (%s)', (code) => {
    const reason = unconfirmedReasonOf(new HostingError(code, 'maybe'));
    const known = ['checking', 'no_answer', 'unknown_code'];
    expect(reason.code).toBe(known.includes(code) ? code : 'unreadable_answer');
  });

  test('is a defect for any other error', () => {
    expect(unconfirmedReasonOf(new TypeError('x')).code).toBe('defect');
  });
});
