import { z } from 'zod';
import { checkWantedRole, requestAccess } from '../../app/access/request-access.ts';
import { withdrawAccessRequest } from '../../app/access/withdraw-access-request.ts';
import { ROLES } from '../../domain/actor.ts';
import { section } from '../kit/blocks.ts';
import { defineForm } from '../kit/form.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { codeLabel } from '../kit/text.ts';
import { requestedMessage, withdrawnMessage } from './access-request-card.ts';
import { requestAccessButton, wantedRole, withdrawAccessButton } from './buttons.ts';
import { roleOption } from './grant-form.ts';

const TITLE = 'Ask for access';
type WantedRole = z.output<typeof wantedRole>;

const reasonForm = defineModal(
  'ask_access',
  wantedRole,
  z.object({
    role: z.enum(ROLES, 'Choose a role').exactOptional(),
    reason: z.string('Tell the owners why you need it').trim().min(1).max(300),
  }),
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

/** Asks for the reason. The role that is enough is chosen already; an owner's role has to be asked for by name. */
export function requestAccessView(input: WantedRole, origin: Origin) {
  const { role, label } = input;
  const servers = label === undefined ? 'all servers' : codeLabel(label, 60);
  return reasonForm.view({
    origin,
    metadata: input,
    title: TITLE,
    submit: 'Send request',
    blocks: [
      section(`Request a role for ${servers}. The owners will decide, and for how long.`),
      reasonForm.selectField('role', {
        label: 'Role',
        placeholder: 'Choose a role',
        options: ROLES.filter((each) => each === role || each !== 'owner').map(roleOption),
        initial: role,
      }),
      reasonForm.textField('reason', { label: 'Why do you need it?', multiline: true, maxLength: 300 }),
    ],
  });
}

export const requestAccessActions = [
  requestAccessForm.handler,
  requestAccessButton.on((input, request) => requestAccessForm.open(input, request)),
  withdrawAccessButton.on(async ({ id }, request) => {
    await request.reply.replace(withdrawnMessage(await request.execute(withdrawAccessRequest, { id })));
  }),
];

export const requestAccessModals = [
  reasonForm.onSubmit(requestAccess, async ({ fields, metadata, origin }, request) => ({
    // The form closes: a message that stays says what was sent and can be withdrawn.
    after: async () => {
      const wanted = { id: origin.formId, ...metadata, ...fields };
      const requested = await request.execute(requestAccess, wanted);
      await request.reply.send(requestedMessage(requested.request, requested.owners));
    },
  })),
];
