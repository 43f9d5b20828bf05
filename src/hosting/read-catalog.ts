import type { Catalog, Plan } from '../core/catalog.ts';
import { Secret } from '../core/secret.ts';
import type { Endpoint, ReadableAnswer, WireAnswer } from './endpoints.ts';
import {
  type Fields,
  fieldsOf,
  findPrice,
  findText,
  findWhole,
  isAbsent,
  listLeaves,
  NOT_JSON,
  parseJson,
} from './fields.ts';
import { makeError, readError } from './refusals.ts';
import { announcesMore, listAround } from './server-list.ts';
import { isFault, isNo, Unclear, withoutEchoes } from './verdict.ts';

/**
 * Reads the answer to `GET /catalog` (docs/hosting-api.md 2.1, 2.11). Leaves out unreadable elements, such as plans without a
 * certain price, and counts them in `unreadable`.
 * @throws Unclear if one of the three lists can't be read at all, or something beside them says that the call failed
 */
export function readCatalog(answer: ReadableAnswer): Catalog {
  const { lists, beside } = findCatalog(answer.body);
  if (listLeaves(beside).some((leaf) => isFault(leaf) || isNo(leaf, answer.status)))
    throw new Unclear('carries_error');
  const plans = readEach(lists.plans, (plan) => findPlan(plan, beside));
  const locations = readEach(lists.locations, findChoice);
  const images = readEach(lists.images, findChoice);
  const certain = withoutRivals(plans.read);
  if (certain.length === 0 && plans.read.length > 0) throw new Unclear('unexpected');
  const unreadable = {
    plans: plans.lost + plans.read.length - certain.length,
    locations: locations.lost,
    images: images.lost,
  };
  const count = unreadable.plans + unreadable.locations + unreadable.images;
  const hasMore = answer.status === 206 || listAround(beside, answer).some((leaf) => announcesMore(leaf));
  return {
    plans: [...new Map(certain.map((plan) => [plan.code, plan])).values()],
    locations: [...new Set(locations.read)],
    images: [...new Set(images.read)],
    ...(hasMore && { hasMore }),
    ...(count > 0 && { unreadable }),
  };
}

interface FoundCatalog {
  readonly lists: Readonly<Record<'plans' | 'locations' | 'images', readonly unknown[]>>;
  readonly beside: Fields;
}

/** Finds the one object that has all three lists: the answer itself, or one in it. @throws Unclear */
function findCatalog(body: unknown): FoundCatalog {
  const outer = fieldsOf(body);
  const found = [['', body] as const, ...Object.entries(outer)].flatMap(([name, value]): FoundCatalog[] => {
    const { plans, locations, images, ...rest } = fieldsOf(value);
    if (!Array.isArray(plans) || !Array.isArray(locations) || !Array.isArray(images)) return [];
    const beside = name === '' ? rest : { ...outer, [name]: rest };
    return [{ lists: { plans, locations, images }, beside }];
  });
  const [catalog, ...rivals] = found;
  if (!catalog || rivals.length > 0) throw new Unclear('unexpected');
  return catalog;
}

/** Reads the elements of a list. @throws Unclear if it has some and none can be read: an empty list would be wrong */
function readEach<T>(
  elements: readonly unknown[],
  read: (element: unknown) => T | undefined,
): { readonly read: T[]; readonly lost: number } {
  const readable = elements.map(read).filter((element) => element !== undefined);
  const lost = elements.length - readable.length;
  if (readable.length === 0 && lost > 0) throw new Unclear('unexpected');
  return { read: readable, lost };
}

function findPlan(element: unknown, beside: Fields): Plan | undefined {
  const { code, vcpu, ram_mb, disk_gb, monthly, currency = beside.currency } = fieldsOf(element);
  const price = findPrice(monthly);
  const [cores, ramMb, diskGb] = [vcpu, ram_mb, disk_gb].map(findWhole);
  if (!isCode(code) || price === undefined) return undefined;
  if (cores === undefined || ramMb === undefined || diskGb === undefined) return undefined;
  const said = findText(currency)?.trim().toUpperCase() ?? '';
  const isCurrency = /^[A-Z]{3}$/.test(said);
  return { code, vcpu: cores, ramMb, diskGb, monthly: price, ...(isCurrency && { currency: said }) };
}

/** Leaves out plans whose code stands for different plans: an order names its plan by code alone. */
function withoutRivals(plans: readonly Plan[]): Plan[] {
  const looks = new Map<string, Set<string>>();
  for (const plan of plans)
    looks.set(plan.code, (looks.get(plan.code) ?? new Set()).add(JSON.stringify(plan)));
  return plans.filter(({ code }) => looks.get(code)?.size === 1);
}

/** Reads a location or an image: a code, as documented, or an object with a `code` and no other identifier. */
function findChoice(element: unknown): string | undefined {
  if (isCode(element)) return element;
  const { code, id, slug } = fieldsOf(element);
  const isOnly = [id, slug].every((other) => isAbsent(other) || other === code);
  return isCode(code) && isOnly ? code : undefined;
}

function isCode(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/**
 * Decodes an answer. Any 2xx is a success if it can be read and nothing in it says otherwise (docs/hosting-api.md 4.12). The
 * answer's text never gets into an error's details, since it may hold a root password; that of a create is passed on as
 * `sealedAnswer`.
 * @throws HostingError with a documented code, `unknown_code` or `unreadable_answer`; its `status` is always set
 */
export function decode<Answer>(endpoint: Endpoint<Answer>, answer: WireAnswer): Answer {
  const { status } = answer;
  const body = parseJson(answer.text);
  const sealed = endpoint.mayHoldSecret ? sealText(answer.raw ?? answer.text) : undefined;
  if (status < 200 || status > 299) {
    const isSecret =
      answer.text.includes('root_password') || /pass|pw/i.test(withoutEchoes(answer.text, endpoint.body));
    throw readError(endpoint, answer, body === NOT_JSON ? undefined : body, isSecret ? sealed : undefined);
  }
  if (body === NOT_JSON)
    throw makeError(endpoint, 'unreadable_answer', { status, problem: 'not_json' }, sealed);
  try {
    return endpoint.read({ ...answer, body });
  } catch (error) {
    if (!(error instanceof Unclear)) throw error;
    throw makeError(endpoint, 'unreadable_answer', { status, problem: error.problem }, sealed);
  }
}

/** The most UTF-16 code units of an answer that are kept (docs/design.md 5.2). Three messages show them. */
const MOST_SEALED = 16_384;

/** Wraps the text of an answer that may hold a root password, cut if it is too long; undefined if it is empty. */
export function sealText(text: string): Secret<string> | undefined {
  if (text.trim() === '') return undefined;
  if (text.length <= MOST_SEALED) return new Secret(text);
  // Never cuts a character in half.
  const kept = text.slice(0, MOST_SEALED).replace(/[\uD800-\uDBFF]$/, '');
  return new Secret(`${kept}\n[The rest, ${text.length - kept.length} characters, was too long to keep.]`);
}
