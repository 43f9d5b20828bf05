import type { ConfirmationDialog } from '@slack/types';
import type { PowerAction, Server } from '../../domain/server.ts';
import { confirmation } from '../kit/blocks.ts';
import { plainLabel } from '../kit/text.ts';
import { VERBS } from './verbs.ts';

/** The same for a list of servers that the user has read. */
export function confirmationOfSeveral(verb: string, servers: number): ConfirmationDialog | undefined {
  if (servers === 1) return confirmationOf(verb);
  if (verb === 'stop')
    return confirmation({
      title: `Stop ${servers} servers?`,
      text: 'They go offline immediately. Billing continues.',
      confirm: 'Stop',
      isDangerous: true,
    });
  if (verb !== 'reboot') return undefined;
  return confirmation({
    title: `Reboot ${servers} servers?`,
    text: 'They restart immediately and are offline for a moment.',
    confirm: 'Reboot',
    isDangerous: true,
  });
}

/** What Slack asks before it sends a choice or a press: both are easy to touch by accident. */
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

/** Stop and reboot ask first: they are easy to touch by accident on a phone. */
export function confirmPower(
  action: PowerAction,
  { label }: Pick<Server, 'label'>,
): ConfirmationDialog | undefined {
  const { title } = VERBS[action];
  const name = plainLabel(label, 40);
  const question = {
    start: undefined,
    stop: `${name} goes offline. Billing continues.`,
    reboot: `${name} will be offline for a moment.`,
  }[action];
  if (question === undefined) return undefined;
  return confirmation({ title: `${title} the server?`, text: question, confirm: title, isDangerous: true });
}
