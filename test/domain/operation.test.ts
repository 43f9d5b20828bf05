import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimOf, isEnded, labelOf, type Purchase } from '../../src/domain/operation.ts';
import { makeOperation } from '../../src/sandbox/gallery/fixtures/samples.ts';

const renewal = (serverId: number, paidUntil: number, label = 'web-1'): Purchase => ({
  kind: 'renew',
  serverId,
  label,
  paidUntil,
});
const order = { plan: 'small', location: 'ams', image: 'debian-13', label: 'web-2' };

describe('what two confirmations must not both pay for', () => {
  it('is the same month of the same server, whatever it is called', () => {
    expect(claimOf(renewal(7, 1000, 'old'))).toBe(claimOf(renewal(7, 1000, 'new')));
  });

  it('is never two different months or servers', () => {
    const number = fc.integer({ min: 0, max: 10_000 });
    fc.assert(
      fc.property(number, number, number, number, (server, until, otherServer, otherUntil) => {
        const isSame = server === otherServer && until === otherUntil;
        expect(claimOf(renewal(server, until)) === claimOf(renewal(otherServer, otherUntil))).toBe(isSame);
      }),
    );
  });

  it('is nothing for a create: two servers may be ordered alike', () => {
    expect(claimOf({ kind: 'create', order })).toBe('');
  });
});

describe('an operation', () => {
  it('is ended when it is settled or refused, and in no other state', () => {
    const states = ['prepared', 'sent', 'settled', 'refused', 'in_doubt'] as const;
    expect(states.filter((state) => isEnded(makeOperation({ state })))).toEqual(['settled', 'refused']);
  });

  it('goes by the label of its server', () => {
    expect(labelOf({ kind: 'create', order })).toBe('web-2');
    expect(labelOf(renewal(7, 1000))).toBe('web-1');
  });
});
