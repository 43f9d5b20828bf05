import type { Button } from '@slack/types';
import { z } from 'zod';
import { continueButton, requestAccessButton, wantedRole, withdrawAccessButton } from '../access/buttons.ts';
import { roleOption } from '../access/grant-form.ts';
import type { Refusal } from '../core/errors.ts';
import { ROLES } from '../core/roles.ts';
import { section } from '../slack/kit/blocks.ts';
import type { ActionHandler } from '../slack/kit/button.ts';
import { defineForm, type Origin } from '../slack/kit/form.ts';
import { defineModal } from '../slack/kit/modal.ts';
import { codeLabel } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { checkWantedRole, findGrantedCommand, requestAccess, withdrawAccessRequest } from './role-request.ts';
import { requestedMessage, withdrawnMessage } from './role-request-card.ts';

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

/** Runs what was typed after `/vps`. */
export type RunTyped = (text: string, request: SlackRequest) => Promise<void>;

/**
 * The button with which a user goes on once a role was granted. Slack has asked them before it sends the press; the command
 * then checks their permission and asks what it always asks, such as **Create and pay** or the label of a server to delete.
 */
export function defineContinue(run: RunTyped): ActionHandler {
  return continueButton.on(async ({ id }, request) => {
    const command = await request.execute(findGrantedCommand, { id });
    await run(command, request);
  });
}

/** A button's value holds 2,000 characters, escapes included. */
const LABEL_MOST = 300;
const COMMAND_MOST = 200;

/**
 * Without the role, a user can request it with one press, and go on with the command they typed once it is granted. The owner role isn't offered: that is a
 * matter between people.
 */
export function accessSteps({ details }: Refusal<'role_needed'>, typed: string | undefined): Button[] {
  const { needed: role, label } = details;
  if (role === 'owner') return [];
  // Without a label it would be a request for every server.
  if (label !== undefined && (label === '' || label.length > LABEL_MOST)) return [];
  const command = typed !== undefined && typed.length <= COMMAND_MOST ? typed.trim() : undefined;
  return [requestAccessButton.element('Ask for access', { role, label, command })];
}
