import { describe, expect, it } from 'vitest';
import { type Catalog, describePlan, findPlan } from '../../src/core/catalog.ts';
import { money } from '../../src/core/money.ts';

const plan = (code: string, ramMb: number) => ({ code, vcpu: 2, ramMb, diskGb: 40, monthly: money(590) });
const catalog: Catalog = { plans: [plan('small', 2048), plan('SMALL', 512)], locations: [], images: [] };

describe('the catalog', () => {
  it('finds a plan by its exact code, since that is what is ordered', () => {
    expect(findPlan(catalog, 'SMALL')?.ramMb).toBe(512);
    expect(findPlan(catalog, 'Small')).toBeUndefined();
  });

  it.each([
    [2048, '2 vCPU · 2 GB RAM · 40 GB disk'],
    [512, '2 vCPU · 512 MB RAM · 40 GB disk'],
    [1536, '2 vCPU · 1.5 GB RAM · 40 GB disk'],
    [1100, '2 vCPU · 1100 MB RAM · 40 GB disk'],
  ])('shows %i MB of memory without rounding', (ramMb, words) => {
    expect(describePlan(plan('p', ramMb))).toBe(words);
  });
});
