import type { ModalView } from '@slack/types';
import { z } from 'zod';
import {
  decideUnconfirmed,
  reviewUnconfirmed,
  type UnconfirmedOrder,
} from '../../app/purchases/decide-unconfirmed.ts';
import { labelOf } from '../../domain/operation.ts';
import { option, section } from '../kit/blocks.ts';
import { defineForm, loadingView, noticeView } from '../kit/form.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { serverOption } from '../kit/server-option.ts';
import { codeLabel, mention } from '../kit/text.ts';
import { decideButton } from './buttons.ts';

const TITLE = 'What happened?';
const NOTHING = 'nothing';
const ELSEWHERE = 'elsewhere';

/** A manager says what the account page shows, where the evidence that the app sees contradicts itself. */
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
  load: async (input, request, origin) => {
    return decisionView(await request.execute(reviewUnconfirmed, input), origin);
  },
});

/** Asks what the hosting account's page shows of an operation. */
export function decisionView(unconfirmed: UnconfirmedOrder, origin: Origin): ModalView {
  const { id: operationId, actorId } = unconfirmed.operation;
  return decision.view({
    origin,
    metadata: { operationId, actorId },
    title: TITLE,
    submit: 'Save',
    blocks: [section(questionOf(unconfirmed)), outcomeField(unconfirmed)],
  });
}

export const decisionActions = [form.handler, decideButton.on((input, request) => form.open(input, request))];

export const decideModals = [
  decision.onSubmit(decideUnconfirmed, async ({ fields, metadata, viewId }, request) => {
    return {
      with: loadingView(TITLE, 'Saving your answer…'),
      after: async () => {
        const { operationId, actorId } = metadata;
        await request.execute(decideUnconfirmed, { operationId, ...readOutcome(fields.outcome) });
        const isOwn = actorId === request.caller.actor.userId;
        const words = isOwn ? 'Saved.' : `Saved. We’ve told ${mention(actorId)} the result.`;
        await request.views.update(viewId, noticeView(TITLE, words));
      },
    };
  }),
];

function readOutcome(outcome: string) {
  if (outcome === NOTHING) return {};
  return outcome === ELSEWHERE ? { isDoneElsewhere: true } : { serverId: Number(outcome) };
}

const CLOSES = 'Your answer only closes this case; nothing is ordered or charged.';

function questionOf({ operation, isReconnected, isListComplete }: UnconfirmedOrder): string {
  const label = codeLabel(labelOf(operation.purchase));
  const isCreate = operation.purchase.kind === 'create';
  const question = `was ${label} ${isCreate ? 'created' : 'renewed'} and charged? ${CLOSES}`;
  const missing = isListComplete ? '' : ' We can’t list all servers of the account right now.';
  if (!isReconnected) return `Check the hosting account’s page: ${question}${missing}`;
  const list = isCreate ? ' The servers below are those of the account that is connected now.' : '';
  return `The hosting account was reconnected after this order was confirmed.${list} Check the page of the account that was connected before: ${question}${missing}`;
}

function outcomeField(unconfirmed: UnconfirmedOrder) {
  const isCreate = unconfirmed.operation.purchase.kind === 'create';
  return decision.selectField('outcome', {
    label: isCreate ? 'Which server was created?' : 'Was it renewed?',
    placeholder: 'Choose what happened',
    options: [
      ...doneOptions(unconfirmed, isCreate),
      option(isCreate ? 'None: it wasn’t created' : 'It wasn’t renewed', NOTHING),
    ],
  });
}

function doneOptions({ candidates, isReconnected, isListComplete }: UnconfirmedOrder, isCreate: boolean) {
  const created = isReconnected
    ? 'It was created in the previous account'
    : 'It was created, but isn’t in this list';
  const elsewhere = isCreate ? created : 'It was renewed';
  // A server of that id in the account of now may be another one: its paid time says nothing.
  if (isReconnected && !isCreate) return [option(elsewhere, ELSEWHERE)];
  const found = candidates
    .slice(0, 98)
    .map((server) => (isCreate ? serverOption(server) : option('It was renewed', String(server.id))));
  const isOffered = isReconnected || (isCreate ? !isListComplete : found.length === 0);
  return isOffered ? [option(elsewhere, ELSEWHERE), ...found] : found;
}
