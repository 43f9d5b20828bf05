import type { Button, KnownBlock } from '@slack/types';
import { HostingError, isRefusal } from '../domain/errors.ts';
import { accessSteps } from './access/next-steps.ts';
import { actions } from './kit/blocks.ts';
import { failedSteps, serverSteps } from './servers/next-steps.ts';

/** What a user can do after an error, as a row of buttons; none where the words say it all. `typed` is the failed command. */
export function nextSteps(error: unknown, typed?: string): KnownBlock[] {
  const buttons = buttonsAfter(error, typed);
  return buttons.length === 0 ? [] : [actions(...buttons)];
}

function buttonsAfter(error: unknown, typed: string | undefined): Button[] {
  if (error instanceof HostingError) return failedSteps(error);
  if (isRefusal(error, 'role_needed')) return accessSteps(error, typed);
  return serverSteps(error);
}
