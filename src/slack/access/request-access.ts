import { z } from 'zod';
import {
  ACCESS_ANSWERS,
  answerAccessRequest,
  checkWantedRole,
  requestAccess,
} from '../../app/access/request-access.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import { ROLES } from '../../domain/actor.ts';
import { EVERY_SERVER, exactPattern } from '../../domain/label-pattern.ts';
import { section, textMessage } from '../kit/blocks.ts';
import { defineForm, loadingView, noticeView } from '../kit/form.ts';
import { defineModal } from '../kit/modal.ts';
import { mention } from '../kit/text.ts';
import type { SlackRequest } from '../transport/request.ts';
import { askedWords } from './access-request-card.ts';
import { describeRole } from './access-words.ts';
import { accessAnswerButton, requestAccessButton } from './buttons.ts';

const TITLE = 'Ask for access';
const wish = z.object({ role: z.enum(ROLES), label: z.string().exactOptional() });
type Wish = z.output<typeof wish>;

const reasonForm = defineModal(
  'ask_access',
  wish,
  z.object({ reason: z.string('Say what for: whoever decides was not here').trim().min(1).max(300) }),
);

/** Asks for a role that somebody lacks: one press and a reason. */
export const askForm = defineForm({
  id: 'ask',
  title: TITLE,
  input: wish,
  needs: requestAccess,
  load: async (input, _request, origin) => {
    checkWantedRole(input);
    return askView(input, origin);
  },
});

/** Asks for the reason. */
export function askView(input: Wish, origin: Parameters<typeof reasonForm.view>[0]['origin']) {
  return reasonForm.view({
    origin,
    metadata: input,
    title: TITLE,
    submit: 'Ask',
    blocks: [
      section(
        `The owners are asked to give you the role ${describeWish(input)}, for good or for some hours.`,
      ),
      reasonForm.textField('reason', { label: 'What for?', multiline: true, maxLength: 300 }),
    ],
  });
}

export const askActions = [
  askForm.handler,
  requestAccessButton.on((input, request) => askForm.open(input, request)),
  ...ACCESS_ANSWERS.map((answer) =>
    accessAnswerButton[answer].on(async ({ requestId }, request) => {
      await tellAnswer(await request.execute(answerAccessRequest, { requestId, answer }), request);
    }),
  ),
];

export const askModals = [
  reasonForm.onSubmit(requestAccess, async ({ fields, metadata, origin, viewId }, request) => {
    return {
      with: loadingView(TITLE, 'Asking the owners…'),
      after: async () => {
        const asked = await request.execute(requestAccess, {
          id: origin.formId,
          ...metadata,
          reason: fields.reason,
        });
        await request.views.update(viewId, noticeView(TITLE, askedWords(asked.request, asked.owners)));
      },
    };
  }),
];

async function tellAnswer(answered: AccessRequest, request: SlackRequest): Promise<void> {
  const untold = answered.isNotified ? '' : ' They could not be told yet; that is tried again for a day.';
  const what = answered.state === 'denied' ? 'does not get the role' : 'has the role';
  await request.reply.send(
    textMessage(`${mention(answered.requesterId)} ${what} ${describeRole(answered)}.${untold}`),
  );
}

function describeWish({ role, label }: Wish): string {
  return describeRole({ role, pattern: label === undefined ? EVERY_SERVER : exactPattern(label) });
}
