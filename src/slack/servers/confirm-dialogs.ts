import type { ConfirmationDialog } from '@slack/types';
import { confirmation } from '../kit/blocks.ts';

/** What Slack asks before it sends a choice or a press: a menu is as easily touched by accident as a button. */
export function confirmationOf(verb: string): ConfirmationDialog | undefined {
  if (verb === 'stop')
    return confirmation({
      title: 'Stop this server?',
      text: 'It goes offline immediately. Billing continues.',
      confirm: 'Stop',
      isDangerous: true,
    });
  if (verb !== 'reboot') return undefined;
  return confirmation({
    title: 'Reboot this server?',
    text: 'It restarts immediately and is offline for a moment.',
    confirm: 'Reboot',
    isDangerous: true,
  });
}
