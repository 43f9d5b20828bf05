import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keepLabel } from '../../src/domain/kept-label.ts';

test('a label of 600 characters is kept whole', () => {
  const label = `web-${'a'.repeat(591)}-prod`;
  expect(keepLabel(label)).toBe(label);
});

test('whatever the label, what is kept of it fits into a modal and is the same every time', () => {
  const labels = fc.string({ unit: 'binary', minLength: 0, maxLength: 5000, size: 'max' });
  fc.assert(
    fc.property(labels, (label) => {
      const kept = keepLabel(label);
      expect(JSON.stringify(kept).length).toBeLessThanOrEqual(2500);
      expect(keepLabel(kept)).toBe(kept);
    }),
  );
});

test('a label that is too long keeps its beginning, and is told from one that begins otherwise', () => {
  expect(keepLabel('a'.repeat(4000))).toBe(`${'a'.repeat(400)}…`);
  expect(keepLabel(`b${'a'.repeat(3999)}`)).not.toBe(keepLabel('a'.repeat(4000)));
  expect(keepLabel('😀'.repeat(2000))).not.toMatch(/[\uD800-\uDBFF]…/);
});
