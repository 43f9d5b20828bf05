import { describe, expect, test } from 'vitest';
import { parseSettings, writeSettings } from '../../../src/account/workspaces.ts';
import { DEFAULT_SETTINGS } from '../../../src/core/settings.ts';

describe('stored settings', () => {
  test('of the first release still load', () => {
    expect(parseSettings('{}')).toEqual(DEFAULT_SETTINGS);
    const stored = '{"announces":false,"approval":{"delete":true},"budget":{"person":500}}';
    expect(parseSettings(stored)).toEqual({
      announces: false,
      approval: { delete: true, renew: false },
      budget: { person: 500 },
    });
  });

  test('that only a later version knows are left alone when others are changed', () => {
    const later = '{"theme":"dark","approval":{"reboot":true,"delete":true},"budget":{"team":5,"person":7}}';
    const frozen = { ...DEFAULT_SETTINGS, freeze: { by: 'U1', since: 1 } };
    const lifted = writeSettings(writeSettings(later, frozen), DEFAULT_SETTINGS);
    expect(JSON.parse(lifted)).toEqual({
      theme: 'dark',
      announces: true,
      approval: { reboot: true, delete: false, renew: false },
      budget: { team: 5 },
    });
  });

  test('that can’t be read are an error, not the defaults', () => {
    for (const broken of ['', '[]', '{"freeze":true}', '{"budget":{"person":-1}}'])
      expect(() => parseSettings(broken)).toThrow();
  });
});
