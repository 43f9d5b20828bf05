import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimOf, isEnded, labelOf, type Purchase, type Standing } from '../../src/purchases/operation.ts';
import { makeOperation } from '../../src/sandbox/gallery/fixtures/samples.ts';

const renewal = (serverId: number, paidUntil: number, label = 'web-1'): Purchase => ({
  kind: 'renew',
  serverId,
  label,
  paidUntil,
});
const order = { plan: 'small', location: 'ams', image: 'debian-13', label: 'web-2' };

describe('the claim of an operation', () => {
  it('is the same for the same month of the same server, whatever its label', () => {
    expect(claimOf(renewal(7, 1000, 'old'))).toBe(claimOf(renewal(7, 1000, 'new')));
  });

  it('is different for different months or servers', () => {
    const number = fc.integer({ min: 0, max: 10_000 });
    fc.assert(
      fc.property(number, number, number, number, (server, until, otherServer, otherUntil) => {
        const isSame = server === otherServer && until === otherUntil;
        expect(claimOf(renewal(server, until)) === claimOf(renewal(otherServer, otherUntil))).toBe(isSame);
      }),
    );
  });

  it('is empty for a create, since two equal servers may be ordered', () => {
    expect(claimOf({ kind: 'create', order })).toBe('');
  });
});

describe('an operation', () => {
  it('has ended when it is settled or refused, and in no other state', () => {
    const standings: readonly Standing[] = [
      { state: 'prepared' },
      { state: 'sent' },
      { state: 'settled' },
      { state: 'refused', reason: { code: 'limit', details: {} } },
      { state: 'unconfirmed', reason: { code: 'no_answer', details: {} } },
    ];
    const ended = standings.filter((standing) => isEnded(makeOperation(standing)));
    expect(ended.map(({ state }) => state)).toEqual(['settled', 'refused']);
  });

  it('is named by the label of its server', () => {
    expect(labelOf({ kind: 'create', order })).toBe('web-2');
    expect(labelOf(renewal(7, 1000))).toBe('web-1');
  });
});
