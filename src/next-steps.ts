import type { Button, KnownBlock } from '@slack/types';
import { connectStep } from './account/connect.ts';
import { HostingError, isRefusal } from './core/errors.ts';
import { accessSteps } from './requests/role-request-card.ts';
import { failedSteps, serverSteps } from './servers/words.ts';
import { actions } from './slack/kit/blocks.ts';

/** Renders a row of buttons for what a user can do after an error; empty if there is nothing. `typed`: the failed command. */
export function nextSteps(error: unknown, typed?: string): KnownBlock[] {
  const buttons = buttonsAfter(error, typed);
  return buttons.length === 0 ? [] : [actions(...buttons)];
}

function buttonsAfter(error: unknown, typed: string | undefined): Button[] {
  if (error instanceof HostingError) return failedSteps(error);
  if (isRefusal(error, 'role_needed')) return accessSteps(error, typed);
  if (isRefusal(error, 'no_api_key')) return error.details.isOwner ? [connectStep()] : [];
  return serverSteps(error);
}
