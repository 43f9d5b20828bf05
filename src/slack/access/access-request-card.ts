import type { Button } from '@slack/types';
import type { AccessAnswer } from '../../app/access/answer-access-request.ts';
import type { AccessRequest } from '../../domain/access-request.ts';
import type { ConfirmationId, UserId } from '../../domain/ids.ts';
import { actions, context, type Message, section, textMessage } from '../kit/blocks.ts';
import { mention, slackDate } from '../kit/text.ts';
import { describeRequest, describeRole } from './access-words.ts';
import { accessAnswerButton } from './buttons.ts';

const WORDS: Readonly<Record<AccessAnswer, string>> = {
  hour: 'Approve for 1 h',
  workday: 'Approve for 8 h',
  permanent: 'Approve for good',
  deny: 'Deny',
};

/** The answers that an owner can give to a request. */
export function answerButtons(requestId: ConfirmationId): Button[] {
  const button = (answer: AccessAnswer, style?: 'primary' | 'danger') =>
    accessAnswerButton[answer].element(WORDS[answer], { requestId }, style ? { style } : {});
  return [button('hour', 'primary'), button('workday'), button('permanent'), button('deny', 'danger')];
}

/** What an owner sees: who requests what and why, with the answers, later replaced by the outcome. */
export function requestCard(request: AccessRequest): Message {
  const words = describeRequest(request);
  if (request.state === 'open') {
    const note = `Asked ${slackDate(request.requestedAt)}. Whoever of the owners answers first decides.`;
    return textMessage(words, actions(...answerButtons(request.id)), context(note));
  }
  return textMessage(words, section(describeAnswer(request)));
}

function describeAnswer({ state, decidedBy, until }: AccessRequest): string {
  if (state === 'replaced') return 'It was asked for again since.';
  if (state === 'expired') return '*Expired*: nobody answered within a week.';
  const how =
    state === 'denied'
      ? 'Denied'
      : until === undefined
        ? 'Approved for good'
        : `Approved until ${slackDate(until)}`;
  return `*${how}* by ${mention(decidedBy ?? '')}.`;
}

/** What the requester reads when it was decided or has expired. */
export function answerMessage({ role, pattern, state, until, decidedBy }: AccessRequest): Message {
  if (state === 'expired') {
    return textMessage(
      `Nobody answered your request for the role ${describeRole({ role, pattern })} within a week, so it has ended. You can ask again.`,
    );
  }
  const by = mention(decidedBy ?? '');
  if (state === 'denied') return textMessage(`${by} said no to the role ${describeRole({ role, pattern })}.`);
  return textMessage(`${by} gave you the role ${describeRole({ role, pattern, until })}. It counts at once.`);
}

/** What the requester reads right after the request. */
export function requestedWords(request: AccessRequest, owners: readonly UserId[]): string {
  const { role, pattern, state, cards } = request;
  const what = describeRole({ role, pattern });
  if (state !== 'open') return `Your request for the role ${what} has been answered already.`;
  if (cards.length > 0) {
    return `You have asked for the role ${what}: ${owners.map(mention).join(', ')} can answer. You will be told.`;
  }
  return `Your request for the role ${what} is written down, but no owner could be reached by message yet; that is tried again for a day. Tell one, such as an admin of this Slack workspace: \`/vps access\` shows it.`;
}
