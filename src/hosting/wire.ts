import { z } from 'zod';
import type { Catalog, Plan } from '../domain/catalog.ts';
import { findMoney } from '../domain/money.ts';
import { Secret } from '../domain/secret.ts';
import type { Server } from '../domain/server.ts';

/** Told how many elements of a list were left out because they could not be read. */
export type OnUnreadable = (count: number) => void;

// The document leaves much open (further fields, states, types in practice), so only what we can't do without
// is insisted on: an id, a plan's code, size and price. Everything else becomes absent or '' when it is odd.
const whole = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
  ])
  .pipe(z.int().nonnegative());
const text = z.union([z.string(), z.number().transform(String)]);
const textOrEmpty = text.catch('');
const textOrAbsent = z.string().trim().min(1).optional().catch(undefined);

const wireServer = z.object({
  id: whole,
  label: textOrEmpty,
  state: textOrEmpty,
  ipv4: textOrAbsent,
  paid_until: textOrAbsent,
});

const wirePlan = z.object({
  code: z.string().min(1),
  vcpu: whole,
  ram_mb: whole,
  disk_gb: whole,
  monthly: text
    .transform(findMoney)
    .pipe(z.custom<NonNullable<ReturnType<typeof findMoney>>>(Number.isFinite)),
});

const wireCatalog = z.object({
  plans: z.array(z.unknown()),
  locations: z.array(z.unknown()),
  images: z.array(z.unknown()),
});

const wireList = z.union([z.array(z.unknown()), z.object({ servers: z.array(z.unknown()) })]);
const wireCreated = z.object({
  id: whole,
  state: textOrEmpty,
  root_password: text.optional().catch(undefined),
});
const wireRenewed = z.object({ id: whole, paid_until: textOrAbsent });
const wireChanged = z.object({ id: whole, state: textOrEmpty });

/** Reads `GET /catalog`; plans whose price or size can't be read are left out. */
export function readCatalog(body: unknown, onUnreadable: OnUnreadable): Catalog | undefined {
  const catalog = wireCatalog.safeParse(body).data;
  if (!catalog) return undefined;
  const plans = readEach(catalog.plans, toPlan, onUnreadable);
  return (
    plans && { plans, locations: catalog.locations.filter(isText), images: catalog.images.filter(isText) }
  );
}

/** Reads `GET /servers`; one element that can't be read does not hide the others. */
export function readServers(body: unknown, onUnreadable: OnUnreadable): readonly Server[] | undefined {
  const list = wireList.safeParse(body).data;
  if (!list) return undefined;
  const elements = Array.isArray(list) ? list : list.servers;
  return readEach(elements, toServer, onUnreadable);
}

/** Reads the answer to `POST /servers`. Without an id nothing is known; without a password the server still is. */
export function parseCreated(body: unknown) {
  const created = wireCreated.safeParse(body).data;
  if (!created) return undefined;
  const { id, state, root_password } = created;
  return { id, state, ...(root_password ? { rootPassword: new Secret(root_password) } : {}) };
}

/** Reads the answer to `POST …/renew`. It was paid, so an answer that names no server proves nothing. */
export function parseRenewed(body: unknown, id: number) {
  const renewed = wireRenewed.safeParse(body).data;
  return renewed?.id === id ? { id, ...paidUntilOf(renewed.paid_until) } : undefined;
}

/**
 * Reads the answer to a power action or a delete. Errors are outside 2xx (API document, section 7), so an empty
 * 2xx means done, in a state nobody named; but a body that says something has to name the server it was about.
 */
export function parseChanged(body: unknown, id: number) {
  if (body === undefined) return { id, state: '' };
  const changed = wireChanged.safeParse(body).data;
  return changed?.id === id ? changed : undefined;
}

/** Undefined when there were elements and not one could be read: an empty list would be a lie. */
function readEach<T>(
  elements: readonly unknown[],
  read: (element: unknown) => T | undefined,
  onUnreadable: OnUnreadable,
): T[] | undefined {
  const readable = elements.map(read).filter((element) => element !== undefined);
  const lost = elements.length - readable.length;
  if (lost > 0) onUnreadable(lost);
  return readable.length === 0 && lost > 0 ? undefined : readable;
}

function toPlan(element: unknown): Plan | undefined {
  const plan = wirePlan.safeParse(element).data;
  if (!plan) return undefined;
  const { code, vcpu, ram_mb: ramMb, disk_gb: diskGb, monthly } = plan;
  return { code, vcpu, ramMb, diskGb, monthly };
}

function toServer(element: unknown): Server | undefined {
  const server = wireServer.safeParse(element).data;
  if (!server) return undefined;
  const { id, label, state, ipv4, paid_until } = server;
  return { id, label, state, ...(ipv4 === undefined ? {} : { ipv4 }), ...paidUntilOf(paid_until) };
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))? ?(Z|[+-]\d\d:?\d\d)?$/i;

function paidUntilOf(written: string | undefined): { paidUntil?: number } {
  const [, day, time = '00:00', zone = 'Z'] = ISO_TIME.exec(written ?? '') ?? [];
  // Without a zone JavaScript would read local time; the document says UTC (section 2).
  const paidUntil = Date.parse(`${day}T${time}${zone.toUpperCase()}`);
  return Number.isNaN(paidUntil) ? {} : { paidUntil };
}

function isText(element: unknown): element is string {
  return typeof element === 'string' && element !== '';
}
