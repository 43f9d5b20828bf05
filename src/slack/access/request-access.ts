import { z } from 'zod';
import { ACCESS_ANSWERS, answerAccessRequest } from '../../app/access/answer-access-request.ts';
import { checkWantedRole, requestAccess } from '../../app/access/request-access.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import { ROLES } from '../../domain/actor.ts';
import { EVERY_SERVER, exactPattern } from '../../domain/label-pattern.ts';
import { section, textMessage } from '../kit/blocks.ts';
import { defineForm, loadingView, noticeView } from '../kit/form.ts';
import { defineModal } from '../kit/modal.ts';
import { mention } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import { requestedWords } from './access-request-card.ts';
import { describeRole } from './access-words.ts';
import { accessAnswerButton, requestAccessButton } from './buttons.ts';

const TITLE = 'Ask for access';
const wantedRole = z.object({ role: z.enum(ROLES), label: z.string().exactOptional() });
type WantedRole = z.output<typeof wantedRole>;

const reasonForm = defineModal(
  'ask_access',
  wantedRole,
  z.object({ reason: z.string('Say what for: whoever decides was not here').trim().min(1).max(300) }),
);

/** Requests a role that the user does not hold: one press and a reason. */
export const requestAccessForm = defineForm({
  id: 'ask',
  title: TITLE,
  input: wantedRole,
  needs: requestAccess,
  load: async (input, _request, origin) => {
    checkWantedRole(input);
    return requestAccessView(input, origin);
  },
});

/** Asks for the reason. */
export function requestAccessView(
  input: WantedRole,
  origin: Parameters<typeof reasonForm.view>[0]['origin'],
) {
  return reasonForm.view({
    origin,
    metadata: input,
    title: TITLE,
    submit: 'Ask',
    blocks: [
      section(
        `The owners are asked to give you the role ${describeWanted(input)}, for good or for some hours.`,
      ),
      reasonForm.textField('reason', { label: 'What for?', multiline: true, maxLength: 300 }),
    ],
  });
}

export const requestAccessActions = [
  requestAccessForm.handler,
  requestAccessButton.on((input, request) => requestAccessForm.open(input, request)),
  ...ACCESS_ANSWERS.map((answer) =>
    accessAnswerButton[answer].on(async ({ requestId }, request) => {
      await confirmAnswer(await request.execute(answerAccessRequest, { requestId, answer }), request);
    }),
  ),
];

export const requestAccessModals = [
  reasonForm.onSubmit(requestAccess, async ({ fields, metadata, origin, viewId }, request) => {
    return {
      with: loadingView(TITLE, 'Asking the owners…'),
      after: async () => {
        const wanted = { id: origin.formId, ...metadata, reason: fields.reason };
        const requested = await request.execute(requestAccess, wanted);
        const words = requestedWords(requested.request, requested.owners);
        await request.views.update(viewId, noticeView(TITLE, words));
      },
    };
  }),
];

/** Confirms to the owner what they answered. */
async function confirmAnswer(answered: AccessRequest, request: SlackRequest): Promise<void> {
  const { requesterId, isNotified, state } = answered;
  const closing = isNotified ? '' : ' They could not be told yet; that is tried again for a day.';
  const what = state === 'denied' ? 'does not get the role' : 'has the role';
  await request.reply.send(
    textMessage(`${mention(requesterId)} ${what} ${describeRole(answered)}.${closing}`),
  );
}

function describeWanted({ role, label }: WantedRole): string {
  return describeRole({ role, pattern: label === undefined ? EVERY_SERVER : exactPattern(label) });
}
