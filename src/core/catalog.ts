import type { Money } from './money.ts';

/** A size of server that can be ordered, with its price per month (docs/hosting-api.md 2.2). */
export interface Plan {
  readonly code: string;
  readonly vcpu: number;
  readonly ramMb: number;
  readonly diskGb: number;
  readonly monthly: Money;
  /** The ISO 4217 code of the price's currency; absent unless the service names one (docs/hosting-api.md 2.11). */
  readonly currency?: string;
}

/** What can be ordered now (docs/hosting-api.md 2.1). Has only plans whose price could be read: others can't be confirmed. */
export interface Catalog {
  readonly plans: readonly Plan[];
  readonly locations: readonly string[];
  readonly images: readonly string[];
  /** Present if some of it could not be read, or the service says that it offers more than this answer shows. */
  readonly isPart?: true;
}

/** The four fields of an order (docs/hosting-api.md 4.4), by codes of the catalog. */
export interface Order {
  readonly plan: string;
  readonly location: string;
  readonly image: string;
  readonly label: string;
}

export function findPlan(catalog: Catalog, code: string): Plan | undefined {
  return catalog.plans.find((plan) => plan.code === code);
}

/** Describes a plan's size without its price: "1 vCPU · 2 GB RAM · 40 GB disk". */
export function describePlan(plan: Plan): string {
  return `${plan.vcpu} vCPU · ${describeRam(plan.ramMb)} RAM · ${plan.diskGb} GB disk`;
}

/** Describes an amount of memory, given in MB, without rounding: "2 GB", "1.5 GB", "512 MB". */
export function describeRam(ramMb: number): string {
  return ramMb >= 1024 && ramMb % 512 === 0 ? `${ramMb / 1024} GB` : `${ramMb} MB`;
}
