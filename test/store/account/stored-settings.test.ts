import { describe, expect, test } from 'vitest';
import { parseSettings } from '../../../src/account/workspaces.ts';

describe('stored settings', () => {
  test('that can’t be read are an error, not the defaults', () => {
    for (const broken of ['', '[]', '{"freeze":true}', '{"budget":{"person":-1}}'])
      expect(() => parseSettings(broken)).toThrow();
  });
});
