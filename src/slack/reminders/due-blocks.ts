import type { KnownBlock } from '@slack/types';
import { actions, confirmation, section } from '../kit/blocks.ts';
import { plainLabel } from '../kit/text.ts';
import { renewButton } from '../purchases/buttons.ts';
import { letExpireButton, remindButton, snoozeButtons } from './buttons.ts';
import { type DigestServer, dayWords, dueWords } from './due-words.ts';

/** A server to renew, with its buttons. `page`: the page of the modal that lists all of them, if it is shown there. */
export function dueBlocks(server: DigestServer, currency: string, page?: number): KnownBlock[] {
  return [section(dueWords(server, currency)), ...buttonsOf(server, page)];
}

function buttonsOf(
  { serverId: id, label, paidUntil, snoozes, standing }: DigestServer,
  page: number | undefined,
): KnownBlock[] {
  const month = { id, paidUntil, page };
  const name = plainLabel(label, 50);
  if (standing.kind === 'snoozed' || standing.kind === 'left')
    return [actions(remindButton.element('Remind again', month, { label: `Remind again about ${name}` }))];
  if (standing.kind !== 'due') return [];
  return [
    actions(
      renewButton.element('Renew and pay…', { id }, { style: 'primary', label: `Renew ${name}` }),
      ...snoozes.map(({ kind, untilDay }) => {
        const words = kind === 'day' ? 'Snooze 1 day' : `Snooze until ${dayWords(untilDay)}`;
        return snoozeButtons[kind].element(words, month, { label: `${words}: ${name}` });
      }),
      letExpireButton.element('Let it expire', month, {
        label: `Let ${name} expire`,
        confirm: confirmation({
          title: 'Let it expire?',
          text: `Reminders about ${plainLabel(label, 60)} stop until its paid time ends. Nothing happens to the server until then.`,
          confirm: 'Let it expire',
        }),
      }),
    ),
  ];
}
