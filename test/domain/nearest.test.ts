import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findNearest } from '../../src/core/labels.ts';

const commands = ['help', 'list', 'show', 'start', 'stop', 'reboot', 'renew', 'delete', 'status'];

describe('the nearest word', () => {
  it.each([
    ['lits', 'list'],
    ['lst', 'list'],
    ['lisst', 'list'],
    ['rebot', 'reboot'],
    ['REBOOT', 'reboot'],
    ['delte', 'delete'],
    ['statsu', 'status'],
    ['stat', 'start'],
  ])('to %s is %s', (typed, nearest) => {
    expect(findNearest(typed, commands)).toBe(nearest);
  });

  it.each(['destroy', 'xyz', 'deploy-everything', '日本語'])('is none for %s', (typed) => {
    expect(findNearest(typed, commands)).toBeUndefined();
  });

  it('is returned as its candidate is written', () => {
    expect(findNearest('web-l', ['WEB-1', 'db'])).toBe('WEB-1');
  });

  it('is the first of several equally near ones', () => {
    expect(findNearest('web-3', ['web-1', 'web-2'])).toBe('web-1');
  });

  it('is the word itself if it is a candidate', () => {
    const words = fc.string({ minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(words, fc.array(words), (typed, others) => {
        const nearest = findNearest(typed, [...others, typed]);
        expect(nearest?.toLowerCase().slice(0, 64)).toBe(typed.toLowerCase().slice(0, 64));
      }),
    );
  });

  it('counts letters in the wrong order as one mistake, and only the first 64 letters', () => {
    expect(findNearest('wbe-1', ['web-1'])).toBe('web-1');
    expect(findNearest('ewb-1', ['web-2'])).toBeUndefined();
    expect(findNearest('x'.repeat(70), [`${'x'.repeat(64)}yyyyyy`])).toBe(`${'x'.repeat(64)}yyyyyy`);
  });
});
