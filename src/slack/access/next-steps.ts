import type { Button } from '@slack/types';
import type { Refusal } from '../../domain/errors.ts';
import { requestAccessButton } from './buttons.ts';

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
