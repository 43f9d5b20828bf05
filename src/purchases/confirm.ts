import type { KnownBlock } from '@slack/types';
import { refuseFrozen } from '../account/workspaces.ts';
import { defineUseCase, type FollowUpContext, type UseCaseContext } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ConfirmationId } from '../core/ids.ts';
import { describeMoney, type Money } from '../core/money.ts';
import { needsApproval, takesApprovals } from '../core/settings.ts';
import { requestApproval } from '../requests/approval.ts';
import { requestedView } from '../requests/approval-card.ts';
import { notifyRequest } from '../requests/notify.ts';
import { APPROVALS, type Approval } from '../requests/request.ts';
import { context, section } from '../slack/kit/blocks.ts';
import { noticeView } from '../slack/kit/form.ts';
import type { SubmitAnswer } from '../slack/kit/modal.ts';
import { escapeText, mention } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { type BudgetState, budgetOf, isOverBudget, readBudget } from './costs.ts';
import type { Prepared } from './ledger.ts';
import { labelOf, type Operation, type Purchase } from './operation.ts';
import { outcomeTitle, outcomeWords, progressWords } from './outcomes.ts';
import { runOperation } from './pay.ts';

export interface Terms {
  readonly budget?: BudgetState;
  readonly isOverBudget: boolean;
  readonly takesApproval: boolean;
}

/** Reads them for a purchase of that price. @throws Refusal `purchases_frozen` */
export async function readTerms(
  kind: Purchase['kind'],
  price: Money | undefined,
  { actor, app }: FollowUpContext,
): Promise<Terms> {
  const settings = await app.workspaces.readSettings(actor.workspaceId);
  refuseFrozen(settings);
  const { approval } = settings;
  const budget = await readBudget(settings, actor, app);
  const isOver = isOverBudget(budget, price);
  const takesApproval = needsApproval(approval, kind, price) || (isOver && takesApprovals(approval, kind));
  return { takesApproval, isOverBudget: isOver, budget };
}

/** What a review says in advance about the budget and the approval that it needs. */
export function termsBlocks(terms: Terms, isPriceKnown: boolean, currency: string): KnownBlock[] {
  const { budget, isOverBudget, takesApproval } = terms;
  const over = takesApproval
    ? 'This exceeds this month’s budget, so another manager must approve it first. Nothing is charged until then.'
    : 'This exceeds this month’s budget and will be refused. An owner can change the budget with `/vps settings`.';
  return [
    ...(isOverBudget ? [section(`:warning: ${over}`)] : []),
    ...(takesApproval && !isOverBudget
      ? [context('Another manager must approve this. Nothing is charged until then.')]
      : []),
    ...(budget ? [context(budgetWords(budget, isPriceKnown, currency))] : []),
  ];
}

function budgetWords({ budget, spent }: BudgetState, isPriceKnown: boolean, currency: string): string {
  const part = (whose: 'workspace' | 'person', who: string) => {
    const most = budget[whose];
    if (most === undefined) return [];
    return [`${who} *${describeMoney(spent[whose], '')} of ${describeMoney(most, currency)}*`];
  };
  const parts = [...part('workspace', 'workspace'), ...part('person', 'you')];
  const unknown = isPriceKnown ? '' : ' This renewal won’t count: we don’t know its price.';
  return `Spent or ordered this month (from Slack): ${escapeText(parts.join(', '))}.${unknown}`;
}

export interface Confirmation {
  /** Made when the form was opened: two presses of one form carry the same one. */
  readonly id: ConfirmationId;
  readonly purchase: Purchase;
  /** What the review showed; absent where no price is known. */
  readonly price?: Money;
  /** When its user pressed, where that was before now: it has to be sent soon after that. */
  readonly confirmedAt?: number;
}

/** It is being paid, or waits for another manager. `isNew` is false when it, or the same month, was confirmed before. */
export type Confirmed =
  | { readonly kind: 'paying'; readonly isNew: boolean; readonly operation: Operation }
  | { readonly kind: 'waiting'; readonly isNew: boolean; readonly approval: Approval };

/**
 * Writes the confirmation durably. Called before the ack, and nothing else is written then.
 * Money effect: none yet; what follows sends it. A second confirmation of the same form, or of the same
 * month of the same server, gets the first one's operation and `isNew: false`.
 * @throws Refusal `purchases_frozen`, `over_budget`; `role_needed` when the actor's role is for other servers
 */
export const confirmPurchase = defineUseCase({
  name: 'confirm',
  needs: 'manager',
  effect: 'confirms',
  isOrder: true,
  run: confirmOne,
  follow: async (confirmed, { app }) => {
    if (!confirmed.isNew) return;
    if (confirmed.kind === 'waiting') return notifyRequest(confirmed.approval.id, app);
    const { operation } = confirmed;
    await runOperation(operation.id, app).catch(async (error: unknown) => {
      await app.operationNotifier.notifyUnsaved(operation);
      throw error;
    });
  },
});

type ConfirmContext = Pick<UseCaseContext, 'actor' | 'app' | 'setSubject' | 'requireRoleFor'>;

/**
 * Writes one confirmation, or requests an approval instead. Money effect: none yet; `runOperation` sends it.
 * @throws Refusal as `confirmPurchase` does
 */
export async function confirmOne(input: Confirmation, context: ConfirmContext): Promise<Confirmed> {
  const { id, purchase, price } = input;
  context.setSubject({ operationId: id, label: labelOf(purchase), money: price });
  await context.requireRoleFor(labelOf(purchase));
  const earlier = await findEarlier(id, context);
  if (earlier) return earlier;
  const { actor, app } = context;
  const { workspaceId, userId: actorId, channelId } = actor;
  const settings = await app.workspaces.readSettings(workspaceId);
  refuseFrozen(settings);
  const { approval: rule } = settings;
  const requestOther = async (isOver: boolean): Promise<Confirmed> => ({
    kind: 'waiting',
    ...(await requestApproval({ id, kind: 'purchase', purchase, price, isOverBudget: isOver }, context)),
  });
  if (needsApproval(rule, purchase.kind, price))
    return requestOther(isOverBudget(await readBudget(settings, actor, app), price));
  const at = input.confirmedAt ?? app.system.now();
  const operation = { id, workspaceId, actorId, channelId, purchase, price, at };
  const prepared = await app.ledger.prepare(operation, budgetOf(settings, app.system.now()));
  if (prepared.kind !== 'over_budget') return paying(prepared, context);
  if (takesApprovals(rule, purchase.kind)) return requestOther(true);
  const { whose, spent, most } = prepared;
  throw new Refusal('over_budget', { whose, spent, most, price });
}

/** An earlier confirmation of the same form stays valid, even if the two-person rule has changed since. */
async function findEarlier(id: ConfirmationId, context: ConfirmContext): Promise<Confirmed | undefined> {
  const { ledger, requests } = context.app;
  const operation = await ledger.find(id);
  if (operation) return paying({ kind: 'known', operation }, context);
  const approval = await requests.find(id, APPROVALS);
  if (!approval) return undefined;
  if (approval.workspaceId !== context.actor.workspaceId) throw new Refusal('other_workspace', {});
  return { kind: 'waiting', isNew: false, approval };
}

function paying(
  { kind, operation }: Extract<Prepared, { operation: Operation }>,
  { actor }: ConfirmContext,
): Confirmed {
  if (operation.workspaceId !== actor.workspaceId) throw new Refusal('other_workspace', {});
  return { kind: 'paying', isNew: kind === 'new', operation };
}

const CLOSE = 'You can close this window. We’ll message you the result.';

/**
 * Takes the press of **Create and pay** or **Renew and pay**: written durably, then acknowledged, then sent, or left to another
 * manager's approval.
 * Money effect: pays once for one operation; a second press shows what has become of the first one.
 */
export async function confirmInForm(
  confirmation: Confirmation,
  viewId: string,
  request: SlackRequest,
): Promise<SubmitAnswer> {
  // Before it is confirmed: the outcome may come as soon as it is.
  request.views.follow(confirmation.id, viewId);
  const confirmed = await request.execute(confirmPurchase, confirmation);
  const { userId } = request.caller.actor;
  if (confirmed.kind === 'waiting') return { with: requestedView(confirmed, confirmation.id, userId) };
  const { operation } = confirmed;
  if (!confirmed.isNew) {
    const isOwn = operation.id === confirmation.id || operation.actorId === userId;
    const first = isOwn
      ? 'Already confirmed.'
      : `Someone else already confirmed this. ${mention(operation.actorId)} will get the result.`;
    const wording = { currency: request.currency, accountUrl: request.accountUrl };
    const words = [`${first} You won’t be charged twice.`, outcomeWords(operation, wording)];
    return { with: noticeView(outcomeTitle(operation), ...words) };
  }
  return { with: noticeView(outcomeTitle(operation), progressWords(operation), CLOSE) };
}
