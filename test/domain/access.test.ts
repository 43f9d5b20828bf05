import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  coversRole,
  type HeldRole,
  type HeldRoles,
  ROLES,
  roleCovers,
  strongestRole,
} from '../../src/core/roles.ts';

const hold = (role: HeldRole['role'], pattern = ''): HeldRole => ({ role, pattern, source: 'named' });

describe('what a user may do', () => {
  test('is nothing without a role', () => {
    for (const role of ROLES) expect(coversRole([], role)).toBe(false);
    expect(strongestRole([])).toBeUndefined();
  });

  test('is what their role and lower roles allow, on the servers that the role is for', () => {
    const roles = [hold('viewer'), hold('manager', 'web-*')];
    expect(coversRole(roles, 'manager')).toBe(true);
    expect(coversRole(roles, 'manager', 'web-1')).toBe(true);
    expect(coversRole(roles, 'operator', 'web-1')).toBe(true);
    expect(coversRole(roles, 'operator', 'db-1')).toBe(false);
    expect(coversRole(roles, 'viewer', 'db-1')).toBe(true);
    expect(coversRole(roles, 'owner')).toBe(false);
    expect(strongestRole(roles)).toBe('manager');
  });

  const anyHold = fc.record({
    role: fc.constantFrom(...ROLES),
    pattern: fc.constantFrom('', 'web-*', '*-1', 'db-1'),
    source: fc.constant('named' as const),
  });
  const label = fc.constantFrom('web-1', 'db-1', 'x', '');

  test('grows with every granted role, and never shrinks', () => {
    fc.assert(
      fc.property(fc.array(anyHold), anyHold, fc.constantFrom(...ROLES), label, (roles, more, role, on) => {
        if (coversRole(roles, role, on)) expect(coversRole([...roles, more], role, on)).toBe(true);
      }),
    );
  });

  test('is never more than the highest role allows', () => {
    fc.assert(
      fc.property(fc.array(anyHold), fc.constantFrom(...ROLES), label, (roles: HeldRoles, role, on) => {
        if (coversRole(roles, role, on)) expect(roleCovers(strongestRole(roles), role)).toBe(true);
        expect(coversRole(roles, role)).toBe(roleCovers(strongestRole(roles), role));
      }),
    );
  });
});
