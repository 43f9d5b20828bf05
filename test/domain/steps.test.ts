import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filterInSteps, finish, mapInSteps, type Steps, sortInSteps } from '../../src/domain/steps.ts';

const numbers = fc.array(fc.nat(50), { maxLength: 400 });

function countPauses(steps: Steps<unknown>): number {
  let pauses = 0;
  while (!steps.next().done) pauses++;
  return pauses;
}

describe('work in steps', () => {
  it('comes to what it would come to in one go, whatever its size', () => {
    fc.assert(
      fc.property(numbers, (all) => {
        const pairs = all.map((value, at) => ({ value, at }));
        const byValue = (a: { value: number }, b: { value: number }) => a.value - b.value;
        expect(finish(sortInSteps(pairs, byValue))).toEqual([...pairs].sort(byValue));
        const isEven = (value: number) => value % 2 === 0;
        expect(finish(filterInSteps(all, isEven))).toEqual(all.filter(isEven));
        expect(finish(mapInSteps(all, String))).toEqual(all.map(String));
      }),
    );
  });

  it('can pause at every hundredth element at the latest', () => {
    const many = Array.from({ length: 5000 }, (_, at) => -at);
    expect(countPauses(mapInSteps(many, String))).toBeGreaterThanOrEqual(50);
    expect(countPauses(sortInSteps(many, (a, b) => a - b))).toBeGreaterThanOrEqual(50);
  });
});
