import type { Catalog, Plan } from '../core/catalog.ts';
import { Secret } from '../core/secret.ts';
import type { Endpoint, ReadableAnswer, WireAnswer } from './endpoints.ts';
import {
  type Fields,
  fieldsOf,
  findPrice,
  findText,
  findWhole,
  listLeaves,
  NOT_JSON,
  parseJson,
} from './fields.ts';
import { makeError, readError } from './refusals.ts';
import { announcesMore, listAround } from './server-list.ts';
import { isFault, isNo, Unclear, withoutEchoes } from './verdict.ts';

/**
 * Reads the answer to `GET /catalog` (docs/hosting-api.md 2.1, 2.11). Leaves out unreadable elements, such as plans without a
 * certain price; `isPart` then says so.
 * @throws Unclear if one of the three lists can't be read at all, or something beside them says that the call failed
 */
export function readCatalog(answer: ReadableAnswer): Catalog {
  const { lists, beside } = findCatalog(answer.body);
  if (listLeaves(beside).some((leaf) => isFault(leaf) || isNo(leaf, answer.status)))
    throw new Unclear('carries_error');
  const plans = readPlans(lists.plans, beside);
  const [locations, images] = [lists.locations.filter(isCode), lists.images.filter(isCode)];
  const counts = [
    [lists.plans.length, plans.length],
    [lists.locations.length, locations.length],
    [lists.images.length, images.length],
  ] as const;
  // An empty list would be wrong.
  if (counts.some(([given, read]) => given > 0 && read === 0)) throw new Unclear('unexpected');
  const isLess = counts.some(([given, read]) => given > read);
  const hasMore = answer.status === 206 || listAround(beside, answer).some((leaf) => announcesMore(leaf));
  return {
    plans,
    locations: [...new Set(locations)],
    images: [...new Set(images)],
    ...((isLess || hasMore) && { isPart: true }),
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

/** Reads the plans whose code no other one has, readable or not: an order names its plan by code alone. */
function readPlans(elements: readonly unknown[], beside: Fields): Plan[] {
  const byCode = new Map<unknown, Plan | undefined>();
  for (const element of elements) {
    const { code } = fieldsOf(element);
    byCode.set(code, byCode.has(code) ? undefined : findPlan(element, beside));
  }
  return [...byCode.values()].filter((plan) => plan !== undefined);
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
