import { Refusal } from '../../domain/errors.ts';
import type { ConfirmationId, ServerId } from '../../domain/ids.ts';
import { freezeLabel } from '../../domain/label.ts';
import { localDay } from '../../domain/local-time.ts';
import { type Money, money } from '../../domain/money.ts';
import { claimOf } from '../../domain/operation.ts';
import { sumCost } from '../../domain/renewal-cost.ts';
import { refuseFrozen } from '../account/refuse-frozen.ts';
import { defineUseCase, type UseCaseContext } from '../authorize/use-case.ts';
import { findRenewPrice, readTerms, type Terms } from '../purchases/review-purchase.ts';
import { listDue, type PaidServer } from './list-due.ts';
import { readReminderSettings } from './reminder-settings.ts';

/**
 * Renewals are sent one by one. This many are sent well before their confirmations expire (docs/design.md 4.7); the rest can be
 * renewed right after them.
 */
const MOST_RENEWALS = 25;

export interface ReviewedRenewal {
  readonly server: PaidServer;
  /** What the catalog says today of the plan that was ordered with this app; absent for other servers. */
  readonly price?: Money;
}

export interface RenewalsReview {
  readonly renewals: readonly ReviewedRenewal[];
  readonly known: Money;
  readonly unknown: readonly ReviewedRenewal[];
  /** Further servers that are due, and are not part of this review. */
  readonly omitted: number;
  readonly terms: Terms;
}

interface RenewalsInput {
  readonly formId: ConfirmationId;
  /** Only these of the servers that are due. */
  readonly only?: readonly ServerId[];
}

/**
 * Looks at what it costs to renew every server that is due, other than those that are snoozed, left to expire or being
 * renewed. Stores what is shown under the form's ID, since a form can't carry it.
 * @throws Refusal `nothing_to_renew`; `list_incomplete` when nothing is due in a list that isn't complete; `purchases_frozen`
 */
export const reviewRenewals = defineUseCase({
  name: 'renew',
  needs: 'manager',
  effect: 'reads',
  run: async ({ formId, only }: RenewalsInput, context): Promise<RenewalsReview> => {
    await refuseFrozen(context.actor.workspaceId, context.app.workspaces);
    const { due, isComplete } = await listRenewable(only, context);
    if (due.length === 0) throw new Refusal(isComplete ? 'nothing_to_renew' : 'list_incomplete', {});
    const renewals: ReviewedRenewal[] = [];
    for (const server of due.slice(0, MOST_RENEWALS))
      renewals.push({ server, price: await findRenewPrice(server, context) });
    const cost = sumCost(renewals);
    // As for one renewal: an unknown price is more than nothing.
    const atLeast = money(cost.known + (cost.unknown.length > 0 ? 1 : 0));
    const terms = await readTerms('renew', atLeast, context);
    await storeBatch(formId, renewals, context);
    return { renewals, ...cost, omitted: due.length - renewals.length, terms };
  },
});

/** The most urgent first. */
async function listRenewable(
  only: RenewalsInput['only'],
  context: UseCaseContext,
): Promise<{ readonly due: readonly PaidServer[]; readonly isComplete: boolean }> {
  const { actor, app } = context;
  const { workspaceId } = actor;
  const hosting = await context.hosting();
  const { servers, extent } = await hosting.fetchServers({ freshness: 'fresh' });
  const settings = await readReminderSettings(context);
  const now = app.system.now();
  const marks = await app.reminders.listMarks(workspaceId);
  const due = listDue(servers, localDay(now, settings.zone), now, settings, marks)
    .filter(({ mark }) => mark === undefined)
    .map(({ server }) => server)
    .filter(({ id, label }) => context.covers(label) && (only?.includes(id) ?? true));
  const ids = due.map(({ id }) => id);
  const renewals = await app.reminders.listRenewals(workspaceId, ids);
  const claims = new Set(renewals.map(({ purchase }) => claimOf(purchase)));
  const isUnclaimed = ({ id: serverId, label, paidUntil }: PaidServer) =>
    !claims.has(claimOf({ kind: 'renew', serverId, label, paidUntil }));
  return { due: due.filter(isUnclaimed), isComplete: extent !== 'part' };
}

async function storeBatch(
  id: ConfirmationId,
  renewals: readonly ReviewedRenewal[],
  { actor, app }: UseCaseContext,
): Promise<void> {
  const { workspaceId, userId: actorId, channelId } = actor;
  const batched = renewals.map(({ server, price }) => ({
    id: app.system.newId(),
    serverId: server.id,
    label: freezeLabel(server.label),
    paidUntil: server.paidUntil,
    price,
  }));
  const at = app.system.now();
  await app.renewalBatches.put({
    id,
    workspaceId,
    actorId,
    renewals: batched,
    at,
    channelId,
  });
}
