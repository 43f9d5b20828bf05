import type { ModalView } from '@slack/types';
import { z } from 'zod';
import { decideDoubt, type OpenDoubt, readDoubt } from '../app/decide-doubt.ts';
import { labelOf } from '../domain/operation.ts';
import { decideButton } from './buttons.ts';
import { option, section } from './kit/blocks.ts';
import { defineForm, loadingView, noticeView } from './kit/form.ts';
import { defineModal, type Origin } from './kit/modal.ts';
import { serverOption } from './kit/server-option.ts';
import { codeLabel } from './kit/text.ts';

const TITLE = 'What has happened?';
const NOTHING = 'nothing';

/** A person says what the account page shows, where the evidence that the app sees contradicts itself. */
const decision = defineModal(
  'decide',
  z.object({ operationId: z.string() }),
  z.object({ outcome: z.string().regex(/^(\d+|nothing)$/, 'Choose what has happened') }),
);

const form = defineForm({
  id: 'decide',
  title: TITLE,
  input: z.object({ operationId: z.string() }),
  needs: decideDoubt,
  load: async (input, request, origin) => {
    return decisionView(await request.enter(readDoubt, input), origin);
  },
});

/** Asks what the hosting account's page shows of an operation. */
export function decisionView(doubt: OpenDoubt, origin: Origin): ModalView {
  return decision.view({
    origin,
    metadata: { operationId: doubt.operation.id },
    title: TITLE,
    submit: 'Decide',
    blocks: [section(questionOf(doubt)), outcomeField(doubt)],
  });
}

export const decideActions = [form.handler, decideButton.on((input, request) => form.open(input, request))];

export const decideModals = [
  decision.onSubmit(async ({ fields, metadata, viewId }, request) => {
    await request.knock(decideDoubt);
    const server = fields.outcome === NOTHING ? {} : { serverId: Number(fields.outcome) };
    return {
      with: loadingView(TITLE),
      after: async () => {
        await request.enter(decideDoubt, { operationId: metadata.operationId, ...server });
        await request.bench.slack.updateView(
          viewId,
          noticeView(TITLE, 'Decided. Whoever confirmed it has been told.'),
        );
      },
    };
  }),
];

function questionOf({ operation }: OpenDoubt): string {
  const label = codeLabel(labelOf(operation.purchase));
  const deed = operation.purchase.kind === 'create' ? 'created' : 'renewed';
  return `Look at the hosting account’s page: was ${label} ${deed} and charged? Nothing is sent or paid by answering; it ends the doubt.`;
}

function outcomeField({ operation, candidates }: OpenDoubt) {
  const isCreate = operation.purchase.kind === 'create';
  const found = candidates
    .slice(0, 99)
    .map((server) => (isCreate ? serverOption(server) : option('It was renewed', String(server.id))));
  return decision.selectField('outcome', {
    label: isCreate ? 'Which server is it?' : 'Was it renewed?',
    placeholder: 'Choose what has happened',
    options: [...found, option(isCreate ? 'None: it was not created' : 'It was not renewed', NOTHING)],
  });
}
