import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Hold, type Reach, reaches, strongestRole } from '../../src/domain/access.ts';
import { ROLES, roleCovers } from '../../src/domain/actor.ts';

const hold = (role: Hold['role'], pattern = ''): Hold => ({ role, pattern, why: 'named' });

describe('what somebody may do', () => {
  test('is nothing without a role', () => {
    for (const role of ROLES) expect(reaches([], role)).toBe(false);
    expect(strongestRole([])).toBeUndefined();
  });

  test('is what a role and the weaker ones may, on the servers that it is for', () => {
    const reach = [hold('viewer'), hold('manager', 'web-*')];
    expect(reaches(reach, 'manager')).toBe(true);
    expect(reaches(reach, 'manager', 'web-1')).toBe(true);
    expect(reaches(reach, 'operator', 'web-1')).toBe(true);
    expect(reaches(reach, 'operator', 'db-1')).toBe(false);
    expect(reaches(reach, 'viewer', 'db-1')).toBe(true);
    expect(reaches(reach, 'owner')).toBe(false);
    expect(strongestRole(reach)).toBe('manager');
  });

  const anyHold = fc.record({
    role: fc.constantFrom(...ROLES),
    pattern: fc.constantFrom('', 'web-*', '*-1', 'db-1'),
    why: fc.constant('named' as const),
  });
  const label = fc.constantFrom('web-1', 'db-1', 'x', '');

  test('grows with every role that is given, and never shrinks', () => {
    fc.assert(
      fc.property(fc.array(anyHold), anyHold, fc.constantFrom(...ROLES), label, (reach, more, role, on) => {
        if (reaches(reach, role, on)) expect(reaches([...reach, more], role, on)).toBe(true);
      }),
    );
  });

  test('is never more than the strongest role', () => {
    fc.assert(
      fc.property(fc.array(anyHold), fc.constantFrom(...ROLES), label, (reach: Reach, role, on) => {
        if (reaches(reach, role, on)) expect(roleCovers(strongestRole(reach), role)).toBe(true);
        expect(reaches(reach, role)).toBe(roleCovers(strongestRole(reach), role));
      }),
    );
  });
});
