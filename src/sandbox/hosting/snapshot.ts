import { z } from 'zod';
import { FAULT_KINDS } from './faults.ts';
import { ERROR_CODES, OPERATIONS } from './protocol.ts';

const minor = z.int().nonnegative();
const count = z.int().nonnegative();
const moment = z.number();

/** An API key as the account page lists it: never the key itself, which is shown once. */
const key = z.strictObject({
  id: count,
  /** Its last four characters. */
  hint: z.string(),
  /** Of the key itself only this is kept. */
  hash: z.string(),
  createdAtMs: moment,
  revokedAtMs: moment.optional(),
});

const account = z.strictObject({
  id: count,
  name: z.string(),
  balanceMinor: minor,
  isOpen: z.boolean(),
  keys: z.array(key),
});

/** A server as the service keeps it; its state follows from the time and is never stored. */
const server = z.strictObject({
  accountId: count,
  id: count,
  label: z.string(),
  plan: z.string(),
  ipv4: z.string(),
  power: z.enum(['running', 'stopped']),
  /** What keeps the server busy until then, after which it is `power`. */
  busy: z.strictObject({ state: z.enum(['creating', 'rebooting']), untilMs: moment }).optional(),
  paidUntilMs: moment,
});

/** An order that was charged and that the supplier has not confirmed. */
const unconfirmed = z.strictObject({
  accountId: count,
  order: z.strictObject({
    plan: z.string(),
    location: z.string(),
    image: z.string(),
    label: z.string(),
  }),
  priceMinor: minor,
  dueMs: moment,
  completes: z.boolean(),
});

const money = z.strictObject({
  id: count,
  atMs: moment,
  accountId: count,
  kind: z.enum(['top_up', 'charge', 'refund']),
  amountMinor: minor,
  what: z.string(),
  serverId: count.optional(),
});

/** Without bodies and headers, like all of the journal. */
const request = z.strictObject({
  id: count,
  atMs: moment,
  realAtMs: moment,
  method: z.string(),
  path: z.string(),
  operation: z.enum(OPERATIONS).optional(),
  accountId: count.optional(),
  serverId: count.optional(),
  ending: z.enum(['answered', 'cut', 'hanging']),
  status: count.optional(),
  code: z.enum(ERROR_CODES).optional(),
  fault: z.enum(FAULT_KINDS).optional(),
  didWork: z.boolean(),
  durationMs: moment.optional(),
});

const plan = z.strictObject({
  code: z.string(),
  vcpu: count,
  ram_mb: count,
  disk_gb: count,
  monthly: z.string().regex(/^\d{1,9}\.\d{2}$/),
});

/**
 * All of the service that outlives its process. Left out on purpose: root passwords, which the service shows once, and
 * faults, which are for the moment. Folders of earlier versions have no requests in them.
 */
const whole = z.strictObject({
  version: z.literal(1),
  skippedMs: moment.nonnegative(),
  accounts: z.array(account),
  servers: z.strictObject({
    lastId: count,
    records: z.array(server),
    unconfirmed: z.array(unconfirmed),
  }),
  catalog: z.strictObject({
    plans: z.array(plan),
    locations: z.array(z.string()),
    images: z.array(z.string()),
  }),
  journal: z.strictObject({ lastId: count, money: z.array(money), requests: z.array(request).default([]) }),
  /** When each account's requests of the last minute were accepted. */
  accepted: z.array(z.strictObject({ accountId: count, atMs: z.array(moment) })).default([]),
});

/** What is kept, read back: nothing in it belongs to an account or a plan that is not there. */
export const snapshotSchema = whole.refine(({ accounts, servers, catalog }) => {
  const ids = new Set(accounts.map(({ id }) => id));
  const codes = new Set(catalog.plans.map(({ code }) => code));
  return (
    servers.records.every((one) => ids.has(one.accountId) && codes.has(one.plan)) &&
    servers.unconfirmed.every((one) => ids.has(one.accountId) && codes.has(one.order.plan))
  );
}, 'something in it refers to what is missing');

export type HostingSnapshot = z.output<typeof snapshotSchema>;
