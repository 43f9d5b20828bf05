import type { Catalog, Plan } from '../domain/catalog.ts';
import { type Fields, fieldsOf, findPrice, findWhole, isAbsent } from './fields.ts';
import { type PagingHeaders, readPageSigns } from './paging.ts';

const ENVELOPES = ['data', 'catalog', 'result', 'response'];

/**
 * Reads `GET /catalog` (docs/hosting-api.md 2). Unreadable elements are left out and counted in `unreadable`: a plan
 * without a certain price can't be ordered. Undefined when one of the three lists can't be read at all.
 */
export function readCatalog(
  body: unknown,
  answer: { readonly status: number; readonly paging?: PagingHeaders },
  onUnreadable: (count: number) => void,
): Catalog | undefined {
  const catalog = findCatalog(body);
  const plans = catalog && readEach(catalog.plans, findPlan);
  const locations = catalog && readEach(catalog.locations, findChoice);
  const images = catalog && readEach(catalog.images, findChoice);
  if (!plans || !locations || !images) return undefined;
  const certain = withoutRivals(plans.read);
  if (certain.length === 0 && plans.read.length > 0) return undefined;
  const unreadable = {
    plans: plans.lost + plans.read.length - certain.length,
    locations: locations.lost,
    images: images.lost,
  };
  const count = unreadable.plans + unreadable.locations + unreadable.images;
  if (count > 0) onUnreadable(count);
  return {
    plans: [...new Map(certain.map((plan) => [plan.code, plan])).values()],
    locations: [...new Set(locations.read)],
    images: [...new Set(images.read)],
    ...(saysMore(body, answer) && { hasMore: true }),
    ...(count > 0 && { unreadable }),
  };
}

/** Unknown fields around a catalog are taken as further facts about it, not as a sign of further pages. */
function saysMore(
  body: unknown,
  answer: { readonly status: number; readonly paging?: PagingHeaders },
): boolean {
  const outer = fieldsOf(body);
  const around = [outer, ...ENVELOPES.map((name) => fieldsOf(outer[name]))].map(
    ({ plans: _, locations: __, images: ___, ...rest }) => rest,
  );
  return readPageSigns(answer, around, 0).claim === 'more';
}

interface Lists {
  readonly plans: readonly unknown[];
  readonly locations: readonly unknown[];
  readonly images: readonly unknown[];
}

/** The one object that has all three lists. */
function findCatalog(body: unknown): Lists | undefined {
  const outer = fieldsOf(body);
  const found = [outer, ...ENVELOPES.map((name) => fieldsOf(outer[name]))].filter(hasLists);
  return found.length === 1 ? found[0] : undefined;
}

function hasLists(fields: Fields): fields is Fields & Lists {
  return [fields.plans, fields.locations, fields.images].every(Array.isArray);
}

/** Undefined when no element could be read: an empty list would be wrong. */
function readEach<T>(
  elements: readonly unknown[],
  read: (element: unknown) => T | undefined,
): { readonly read: T[]; readonly lost: number } | undefined {
  const readable = elements.map(read).filter((element) => element !== undefined);
  const lost = elements.length - readable.length;
  return readable.length === 0 && lost > 0 ? undefined : { read: readable, lost };
}

function findPlan(element: unknown): Plan | undefined {
  const { code, vcpu, ram_mb, disk_gb, monthly } = fieldsOf(element);
  const price = findPrice(monthly);
  const [cores, ramMb, diskGb] = [vcpu, ram_mb, disk_gb].map(findWhole);
  if (!isCode(code) || price === undefined) return undefined;
  if (cores === undefined || ramMb === undefined || diskGb === undefined) return undefined;
  return { code, vcpu: cores, ramMb, diskGb, monthly: price };
}

/** Plans with a unique code: an order names its plan by code, so a code with two prices can't be ordered. */
function withoutRivals(plans: readonly Plan[]): Plan[] {
  const looks = new Map<string, Set<string>>();
  for (const plan of plans)
    looks.set(plan.code, (looks.get(plan.code) ?? new Set()).add(JSON.stringify(plan)));
  return plans.filter(({ code }) => looks.get(code)?.size === 1);
}

/** A location or an image: a code, as documented, or an object with a `code` and no other identifier. */
function findChoice(element: unknown): string | undefined {
  if (isCode(element)) return element;
  const { code, id, slug } = fieldsOf(element);
  const isOnly = [id, slug].every((other) => isAbsent(other) || other === code);
  return isCode(code) && isOnly ? code : undefined;
}

function isCode(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
