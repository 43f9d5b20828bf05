import type { Money } from './money.ts';

/** A size that can be ordered (docs/hosting-api.md 2). */
export interface Plan {
  readonly code: string;
  readonly vcpu: number;
  readonly ramMb: number;
  readonly diskGb: number;
  readonly monthly: Money;
  /** The ISO 4217 code of the price's currency; absent unless the service names one, which the document doesn't mention. */
  readonly currency?: string;
}

/** What can be ordered now. Plans whose price can't be read are left out: they can't be confirmed. */
export interface Catalog {
  readonly plans: readonly Plan[];
  readonly locations: readonly string[];
  readonly images: readonly string[];
  /** The service says that it sells more than it has shown; absent when it does not. */
  readonly hasMore?: true;
  /** How much of each list could not be read; absent when all of it could. */
  readonly unreadable?: { readonly plans: number; readonly locations: number; readonly images: number };
}

/** What a user wants to order. */
export interface Order {
  readonly plan: string;
  readonly location: string;
  readonly image: string;
  readonly label: string;
}

/** Finds a plan by its code. */
export function findPlan(catalog: Catalog, code: string): Plan | undefined {
  return catalog.plans.find((plan) => plan.code === code);
}

/** Says a plan's size in one line, without its price. */
export function describePlan(plan: Plan): string {
  return `${plan.vcpu} vCPU · ${describeRam(plan.ramMb)} RAM · ${plan.diskGb} GB disk`;
}

/** "2 GB", "1.5 GB", "512 MB": never rounded. */
export function describeRam(ramMb: number): string {
  return ramMb >= 1024 && ramMb % 512 === 0 ? `${ramMb / 1024} GB` : `${ramMb} MB`;
}
