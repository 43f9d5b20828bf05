import { z } from 'zod';
import type { Refusal } from '../core/errors.ts';
import type { ChannelId, ConfirmationId, ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import { type Money, money } from '../core/money.ts';
import { WEEK_MS } from '../core/time.ts';
import type { Foundation, Queries } from '../db/database.ts';
import { addJob, type Job, listJobs } from '../db/jobs.ts';

/**
 * The kind of job that carries out renewals which were confirmed together. Its key is the ID of their form, and its payload what
 * that shows, since a form can't carry it.
 */
export const BATCH = 'batch';

/** One of several renewals that are confirmed together; its ID is that of its operation. */
export interface BatchedRenewal {
  readonly id: ConfirmationId;
  readonly serverId: ServerId;
  /** As `freezeLabel` writes it. */
  readonly label: string;
  readonly paidUntil: number;
  readonly price?: Money;
}

/** Several renewals that one user reviewed together: each is an operation of its own. */
export interface RenewalBatch {
  /** Also the ID of the form, and so of the reply path. */
  readonly id: ConfirmationId;
  readonly workspaceId: WorkspaceId;
  readonly actorId: UserId;
  readonly channelId?: ChannelId;
  readonly renewals: readonly BatchedRenewal[];
  /** `done`: its user has read the outcome. */
  readonly state: 'open' | 'confirmed' | 'done';
  /** When it was opened, or confirmed. */
  readonly at: number;
  /** The owner of the job that began it. */
  readonly begunBy?: string;
  /** Why renewals were not even confirmed, by their IDs. */
  readonly failures: Readonly<Record<ConfirmationId, Pick<Refusal, 'code' | 'details'>>>;
}

/** A second press of the form finds the batch for this long. */
const KEPT_MS = WEEK_MS;
/** The process that takes the confirmation begins at once; another one does if that process has died by then. */
const BEGIN_MS = 2000;

export type RenewalBatches = ReturnType<typeof createRenewalBatches>;

/** Renewals that are reviewed and confirmed together, as jobs. */
export function createRenewalBatches(foundation: Foundation) {
  const { db, engine } = foundation;
  return {
    /** Stores what a form shows. A form that its user loads again replaces it, until it is confirmed. */
    put: (shown: Omit<RenewalBatch, 'state' | 'failures'>): Promise<void> =>
      engine.transact(db, async (trx) => {
        const before = await find(trx, shown.id);
        const isOwn = before?.actorId === shown.actorId && before.workspaceId === shown.workspaceId;
        if (before && !(isOwn && before.state === 'open')) return;
        await store(trx, foundation, { ...shown, state: 'open', failures: {} }, keptUntil(shown));
      }),
    find: (id: ConfirmationId) => find(db, id),
    /** open → confirmed, durably. False when it was confirmed before. Money effect: its job pays. */
    confirm: (id: ConfirmationId, at: number): Promise<boolean> =>
      engine.transact(db, async (trx) => {
        const batch = await find(trx, id);
        if (batch?.state !== 'open') return false;
        await store(trx, foundation, { ...batch, state: 'confirmed', at }, engine.clock.now() + BEGIN_MS);
        return true;
      }),
  };
}

async function find(db: Queries, id: ConfirmationId): Promise<RenewalBatch | undefined> {
  const [job] = await listJobs(db, BATCH, undefined, id);
  return job && toBatch(job);
}

function store(trx: Queries, foundation: Foundation, batch: RenewalBatch, dueAt: number): Promise<void> {
  const { id: key, workspaceId } = batch;
  return addJob(trx, foundation, { kind: BATCH, key, workspaceId, payload: toPayload(batch), dueAt });
}

/** When its job is removed. */
export function keptUntil({ at }: Pick<RenewalBatch, 'at'>): number {
  return at + KEPT_MS;
}

export function toPayload({ id: _, workspaceId: __, ...payload }: RenewalBatch): object {
  return payload;
}

const stored = z.object({
  actorId: z.string(),
  channelId: z.string().exactOptional(),
  renewals: z.array(
    z.object({
      id: z.string(),
      serverId: z.number(),
      label: z.string(),
      paidUntil: z.number(),
      price: z.number().int().transform(money).exactOptional(),
    }),
  ),
  state: z.enum(['open', 'confirmed', 'done']),
  at: z.number(),
  begunBy: z.string().exactOptional(),
  failures: z.record(z.string(), z.object({ code: z.string(), details: z.unknown() })),
});

/** @throws ZodError: money must not depend on a guess */
export function toBatch({ key: id, workspaceId, payload }: Job): RenewalBatch {
  return { id, workspaceId, ...(stored.parse(payload) as Omit<RenewalBatch, 'id' | 'workspaceId'>) };
}
