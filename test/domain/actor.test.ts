import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ROLES, type Role, roleCovers, strongerRole } from '../../src/core/roles.ts';

const role = fc.constantFrom(...ROLES);
const heldRole = fc.option(role, { nil: undefined });

describe('a role', () => {
  it.each([
    ['viewer', ['viewer']],
    ['operator', ['viewer', 'operator']],
    ['manager', ['viewer', 'operator', 'manager']],
    ['owner', ['viewer', 'operator', 'manager', 'owner']],
  ] as [Role, Role[]][])('%s covers %j and nothing else', (held, covered) => {
    expect(ROLES.filter((needed) => roleCovers(held, needed))).toEqual(covered);
  });

  it('that is missing covers nothing', () => {
    expect(ROLES.filter((needed) => roleCovers(undefined, needed))).toEqual([]);
  });

  it('is the higher of two roles, in any order', () => {
    fc.assert(
      fc.property(heldRole, heldRole, (a, b) => {
        const stronger = strongerRole(a, b);
        expect(strongerRole(b, a)).toBe(stronger);
        expect([a, b]).toContain(stronger);
        for (const each of [a, b]) if (each) expect(roleCovers(stronger, each)).toBe(true);
      }),
    );
  });
});
