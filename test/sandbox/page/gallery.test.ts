import { expect, it } from 'vitest';
import { surfaces } from '../../../src/sandbox/gallery/fixtures/surfaces.ts';
import { arrange, makePieces, sentencesOf } from '../../../src/sandbox/gallery/pieces.ts';

it('the gallery leaves out no sentence', () => {
  const all = makePieces(surfaces);
  const shown = new Set(sentencesOf(arrange(all)));
  const missing = all.filter(({ payload }) => sentencesOf(payload).some((each) => !shown.has(each)));
  expect(missing.map(({ name }) => name)).toEqual([]);
  expect(all.length).toBeGreaterThan(800);
});
