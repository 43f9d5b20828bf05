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
import { codeLabel } from '../kit/text.ts';
import { decideButton } from './buttons.ts';

const TITLE = 'What has happened?';
const NOTHING = 'nothing';
const ELSEWHERE = 'elsewhere';

/** A manager says what the account page shows, where the evidence that the app sees contradicts itself. */
const decision = defineModal(
  'decide',
  z.object({ operationId: z.string() }),
  z.object({ outcome: z.string().regex(/^(\d+|nothing|elsewhere)$/, 'Choose what has happened') }),
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
  return decision.view({
    origin,
    metadata: { operationId: unconfirmed.operation.id },
    title: TITLE,
    submit: 'Decide',
    blocks: [section(questionOf(unconfirmed)), outcomeField(unconfirmed)],
  });
}

export const decisionActions = [form.handler, decideButton.on((input, request) => form.open(input, request))];

export const decideModals = [
  decision.onSubmit(decideUnconfirmed, async ({ fields, metadata, viewId }, request) => {
    return {
      with: loadingView(TITLE),
      after: async () => {
        await request.execute(decideUnconfirmed, {
          operationId: metadata.operationId,
          ...readOutcome(fields.outcome),
        });
        await request.views.update(viewId, noticeView(TITLE, 'Decided. Whoever confirmed it has been told.'));
      },
    };
  }),
];

function readOutcome(outcome: string) {
  if (outcome === NOTHING) return {};
  return outcome === ELSEWHERE ? { isDoneElsewhere: true } : { serverId: Number(outcome) };
}

function questionOf({ operation, isReconnected, isListComplete }: UnconfirmedOrder): string {
  const label = codeLabel(labelOf(operation.purchase));
  const isCreate = operation.purchase.kind === 'create';
  const question = `was ${label} ${isCreate ? 'created' : 'renewed'} and charged? Nothing is sent or paid by answering; it ends the doubt.`;
  const missing = isListComplete ? '' : ' We can’t list all servers of the account right now.';
  if (!isReconnected) return `Look at the hosting account’s page: ${question}${missing}`;
  const list = isCreate ? ' The servers in this list are those of the account that is connected now.' : '';
  return `The hosting account was connected anew since this was confirmed.${list} Look at the page of the account that was connected before: ${question}${missing}`;
}

function outcomeField(unconfirmed: UnconfirmedOrder) {
  const isCreate = unconfirmed.operation.purchase.kind === 'create';
  return decision.selectField('outcome', {
    label: isCreate ? 'Which server is it?' : 'Was it renewed?',
    placeholder: 'Choose what has happened',
    options: [
      ...doneOptions(unconfirmed, isCreate),
      option(isCreate ? 'None: it was not created' : 'It was not renewed', NOTHING),
    ],
  });
}

function doneOptions({ candidates, isReconnected, isListComplete }: UnconfirmedOrder, isCreate: boolean) {
  const created = isReconnected
    ? 'It was created in the account before'
    : 'It was created: it’s not in this list';
  const elsewhere = isCreate ? created : 'It was renewed';
  // A server of that id in the account of now may be another one: its paid time says nothing.
  if (isReconnected && !isCreate) return [option(elsewhere, ELSEWHERE)];
  const found = candidates
    .slice(0, 98)
    .map((server) => (isCreate ? serverOption(server) : option('It was renewed', String(server.id))));
  const isOffered = isReconnected || (isCreate ? !isListComplete : found.length === 0);
  return isOffered ? [option(elsewhere, ELSEWHERE), ...found] : found;
}
