import type { ModalView } from '@slack/types';
import { z } from 'zod';
import { findSearchedAccount } from '../account/keys.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { isExpected, Refusal } from '../core/errors.ts';
import type { AccountNames, ConfirmationId, ServerId } from '../core/ids.ts';
import { isSameLabel } from '../core/labels.ts';
import { compareServers, isDeleted, type Server, type ServerList } from '../core/server.ts';
import { option, section } from '../slack/kit/blocks.ts';
import { serverOption } from '../slack/kit/fields.ts';
import { defineForm, loadingView, noticeView, type Origin } from '../slack/kit/form.ts';
import { defineModal } from '../slack/kit/modal.ts';
import { codeLabel, mention } from '../slack/kit/text.ts';
import type { Settled } from './ledger.ts';
import { auditOfOperation, labelOf, type Operation } from './operation.ts';
import { accountPage, decideButton } from './outcomes.ts';
import { listNewServers, lookOnce, notifyNow } from './pay.ts';

interface UnconfirmedOrder {
  readonly operation: Operation;
  /** Servers that may be the one: those that were not there before and that no other order here has created. */
  readonly candidates: readonly Server[];
  /** The key was set after it was confirmed: the candidates may be another account's. */
  readonly isReconnected?: boolean;
  /** False when the servers can't all be listed: without a working key, or because the service did not show them. */
  readonly isListComplete: boolean;
}

/** What a manager has seen: this server, or that it was done in an account that is not connected any more, or nothing. */
interface Decision {
  readonly operationId: ConfirmationId;
  readonly serverId?: ServerId;
  readonly isDoneElsewhere?: boolean;
}

/** @throws Refusal `doubt_over` when it is not unconfirmed any more */
const reviewUnconfirmed = defineUseCase({
  name: 'decide',
  needs: 'manager',
  effect: 'reads',
  run: async (input: { operationId: ConfirmationId }, context): Promise<UnconfirmedOrder> => {
    const operation = await getUnconfirmed(input.operationId, context);
    return { operation, ...(await listCandidates(operation, context)) };
  },
});

/**
 * Ends an unconfirmed operation by what a manager has seen on the account page.
 * Money effect: none; it only says what has happened.
 * @throws Refusal `doubt_over`, `unknown_server`
 */
export const decideUnconfirmed = defineUseCase({
  name: 'decide',
  needs: 'manager',
  effect: 'changes',
  subject: ({ operationId, serverId }) => ({ operationId, serverId }),
  run: async (input: Decision, context): Promise<void> => {
    const { app, actor } = context;
    const { ledger } = app;
    // What a whole list proves by now needs no decision.
    await lookOnce(await getUnconfirmed(input.operationId, context), app);
    const operation = await getUnconfirmed(input.operationId, context);
    context.setSubject({ label: labelOf(operation.purchase) });
    const at = app.system.now();
    const audit = (outcome: 'done' | 'failed') =>
      auditOfOperation(operation, app, outcome, { code: 'decided', actorId: actor.userId });
    const settle = (found: Partial<Settled>) =>
      ledger.settle(operation.id, { at, decidedBy: actor.userId, ...found }, audit('done'));
    let isEnded: boolean;
    if (input.isDoneElsewhere) {
      isEnded = await settle({});
    } else if (input.serverId === undefined) {
      const reason = { code: 'decided_not_done', details: {} } as const;
      isEnded = await ledger.refuse(operation.id, { at, reason, decidedBy: actor.userId }, audit('failed'));
    } else {
      const { candidates } = await listCandidates(operation, context);
      const server = candidates.find(({ id }) => id === input.serverId);
      if (!server) throw new Refusal('unknown_server', { typed: String(input.serverId) });
      const { id: serverId, paidUntil = 0 } = server;
      const { purchase } = operation;
      // The date that a renewal started from isn't its result.
      const isResult = purchase.kind === 'renew' && paidUntil > purchase.paidUntil;
      isEnded = await settle({ serverId, ...(isResult && { paidUntil }) });
    }
    // It has ended, or another order of the account has been found to have made the server, since it was read.
    if (!isEnded) throw new Refusal('doubt_over', {});
    await notifyNow(operation.id, app);
  },
});

async function getUnconfirmed(
  operationId: ConfirmationId,
  { actor, app, requireRoleFor }: UseCaseContext,
): Promise<Operation> {
  const operation = await app.ledger.find(operationId);
  const isOpen = operation?.workspaceId === actor.workspaceId && operation.needsDecision;
  if (!isOpen || operation.state !== 'unconfirmed') throw new Refusal('doubt_over', {});
  await requireRoleFor(labelOf(operation.purchase));
  return operation;
}

/** New servers for a create, the server itself for a renewal. None where the account can't be looked at. */
async function listCandidates(
  operation: Operation,
  context: UseCaseContext,
): Promise<Omit<UnconfirmedOrder, 'operation'>> {
  const account = await findSearchedAccount(operation, context.app);
  if (account.kind === 'none') return { candidates: [], isListComplete: false };
  const { hosting } = account;
  const list = await hosting.fetchServers({ freshness: 'fresh' }).catch((error: unknown): ServerList => {
    if (!isExpected(error)) throw error;
    return { servers: [], extent: 'maybe_whole', unreadableCount: 0 };
  });
  return {
    candidates: await listFitting(operation, list, hosting.account, context),
    isReconnected: account.kind === 'other',
    isListComplete: list.extent === 'whole',
  };
}

async function listFitting(
  operation: Operation,
  list: ServerList,
  account: AccountNames,
  { app, covers }: UseCaseContext,
): Promise<readonly Server[]> {
  const { purchase } = operation;
  if (purchase.kind === 'renew')
    return list.servers.filter((server) => server.id === purchase.serverId && !isDeleted(server));
  const added = listNewServers(operation, list, []);
  const addedIds = added.map(({ id }) => id);
  const othersIds = await app.ledger.listSettledIds(account, addedIds);
  // The decision tells whose server it is and what it costs, so only servers that the manager's role covers are offered.
  const offered = added
    .filter(({ id, label }) => !othersIds.includes(id) && covers(label))
    .sort(compareServers);
  if (operation.sentAt !== undefined) return offered;
  // Not marked as sent in this database, so that all servers are new to it: those of its label come first.
  const rank = ({ label }: Server) => (isSameLabel(label, purchase.order.label) ? 0 : 1);
  return offered.sort((a, b) => rank(a) - rank(b));
}

const TITLE = 'What happened?';
const NOTHING = 'nothing';
const ELSEWHERE = 'elsewhere';

/** A manager says what the account page shows, if the evidence that the app sees contradicts itself. */
const decision = defineModal(
  'decide',
  z.object({ operationId: z.string(), actorId: z.string() }),
  z.object({ outcome: z.string().regex(/^(\d+|nothing|elsewhere)$/, 'Choose what happened') }),
);

const form = defineForm({
  id: 'decide',
  title: TITLE,
  input: z.object({ operationId: z.string() }),
  needs: decideUnconfirmed,
  load: async (input, request, origin) =>
    decisionView(await request.execute(reviewUnconfirmed, input), origin, request.accountUrl),
});

export function decisionView(unconfirmed: UnconfirmedOrder, origin: Origin, accountUrl?: string): ModalView {
  const { id: operationId, actorId } = unconfirmed.operation;
  return decision.view({
    origin,
    metadata: { operationId, actorId },
    title: TITLE,
    submit: 'Save',
    blocks: [section(questionOf(unconfirmed, accountPage(accountUrl))), outcomeField(unconfirmed)],
  });
}

export const decisionActions = [form.handler, decideButton.on((input, request) => form.open(input, request))];

export const decideModals = [
  decision.onSubmit(decideUnconfirmed, async ({ fields, metadata, viewId }, request) => ({
    with: loadingView(TITLE, 'Saving your answer…'),
    after: async () => {
      const { operationId, actorId } = metadata;
      const { outcome } = fields;
      const isServer = outcome !== NOTHING && outcome !== ELSEWHERE;
      const seen = isServer ? { serverId: Number(outcome) } : { isDoneElsewhere: outcome === ELSEWHERE };
      await request.execute(decideUnconfirmed, { operationId, ...seen });
      const isOwn = actorId === request.caller.actor.userId;
      const words = isOwn ? 'We’ve saved your answer.' : `We’ll tell ${mention(actorId)} the result.`;
      await request.views.update(viewId, noticeView('Order resolved', words));
    },
  })),
];

const CLOSES = 'Your answer only closes this case; nothing is ordered or charged.';

function questionOf({ operation, isReconnected, isListComplete }: UnconfirmedOrder, page: string): string {
  const label = codeLabel(labelOf(operation.purchase));
  const isCreate = operation.purchase.kind === 'create';
  const question = `was ${label} ${isCreate ? 'created' : 'renewed'} and charged? ${CLOSES}`;
  const missing = isListComplete ? '' : ' We can’t list all servers of the account right now.';
  if (!isReconnected) return `Check ${page}: ${question}${missing}`;
  const list = isCreate ? ' The servers below are those of the account that is connected now.' : '';
  return `The hosting account was reconnected after this order was confirmed.${list} Check the page of the account that was connected before: ${question}${missing}`;
}

function outcomeField({ operation, candidates, isReconnected }: UnconfirmedOrder) {
  const isCreate = operation.purchase.kind === 'create';
  const created = isReconnected
    ? 'It was created in the previous account'
    : 'It was created, but isn’t in this list';
  // A server of that id in the account of now may be another one: its paid time says nothing.
  const found = (isReconnected && !isCreate ? [] : candidates)
    .slice(0, 98)
    .map((server) => (isCreate ? serverOption(server) : option('It was renewed', String(server.id))));
  // A new server may have been deleted since, on the account's page.
  const isElsewhereOffered = isReconnected || isCreate || found.length === 0;
  return decision.selectField('outcome', {
    label: isCreate ? 'Which server was created?' : 'Was it renewed?',
    placeholder: 'Choose what happened',
    options: [
      ...(isElsewhereOffered ? [option(isCreate ? created : 'It was renewed', ELSEWHERE)] : []),
      ...found,
      option(isCreate ? 'None: it wasn’t created' : 'It wasn’t renewed', NOTHING),
    ],
  });
}
