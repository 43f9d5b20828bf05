import type { KnownBlock } from '@slack/types';
import type { AccessRequest } from '../../domain/access-request.ts';
import type { ConfirmationId, UserId } from '../../domain/ids.ts';
import { actions, confirmation, context, type Message, section, textMessage } from '../kit/blocks.ts';
import { mention, plainLabel, slackDate } from '../kit/text.ts';
import { describeNewRole, describeRequest, describeWantedRole, quote } from './access-words.ts';
import {
  accessAnswerButton,
  adjustButton,
  continueButton,
  denyAccessButton,
  withdrawAccessButton,
} from './buttons.ts';

/** The answers that an owner can give to a request: a row that grants something, and a row that doesn't. */
export function answerRows(id: ConfirmationId): KnownBlock[] {
  const { hour, workday, permanent, deny } = accessAnswerButton;
  return [
    actions(
      hour.element('Approve for 1 h', { id }, { style: 'primary' }),
      workday.element('Approve for 8 h', { id }),
      permanent.element('Approve permanently', { id }),
      adjustButton.element('Approve with changes…', { id }),
    ),
    actions(
      deny.element('Deny', { id }, { style: 'danger' }),
      denyAccessButton.element('Deny with reason…', { id }),
    ),
  ];
}

/** What an owner sees: who requests what and why, with the answers, later replaced by the outcome. */
export function requestCard(request: AccessRequest): Message {
  const words = describeRequest(request);
  if (request.state !== 'open') return textMessage(words, section(describeAnswer(request)));
  const note = `Requested ${slackDate(request.requestedAt)}. The first owner to answer decides.`;
  return textMessage(words, ...answerRows(request.id), context(note));
}

function describeAnswer(request: AccessRequest): string {
  const { state, decidedBy = '', denialReason } = request;
  switch (state) {
    case 'open':
      return '';
    case 'approved':
      return `*Approved* by ${mention(decidedBy)}: ${mention(request.requesterId)} is now ${describeNewRole(grantedOf(request))}.`;
    case 'denied':
      return `*Denied* by ${mention(decidedBy)}.${denialReason === undefined ? '' : `\n${quote(denialReason)}`}`;
    case 'withdrawn':
      return `*Withdrawn* by ${mention(request.requesterId)}.`;
    case 'replaced':
      return `*Replaced*: ${mention(request.requesterId)} has sent a newer request.`;
    case 'expired':
      return '*Expired*: no owner answered within a week.';
  }
}

/** What was granted; the first release stored it only where it was what was requested. */
function grantedOf({ role, pattern, granted = { role, pattern }, until }: AccessRequest) {
  return { ...granted, until };
}

/** What the requester reads when it was decided or has expired. */
export function answerMessage(request: AccessRequest): Message {
  const { state, decidedBy, denialReason } = request;
  const wanted = describeWantedRole(request);
  if (state === 'expired') {
    return textMessage(
      `No owner answered your request for the ${wanted} within a week, so it expired. You can request it again.`,
    );
  }
  const by = mention(decidedBy ?? '');
  if (state === 'denied') {
    const reason = denialReason === undefined ? '' : `\n${quote(denialReason)}`;
    return textMessage(`${by} declined your request for the ${wanted}.${reason}`);
  }
  const granted = grantedOf(request);
  const isLess = granted.role !== request.role || granted.pattern !== request.pattern;
  const instead = isLess ? ` You requested the ${wanted}.` : '';
  return textMessage(`${by} made you ${describeNewRole(granted)}.${instead}`, ...nextStep(request));
}

/** Goes on with the command for which the role was requested. It is run only when this is confirmed. */
function nextStep({ id, command }: AccessRequest): KnownBlock[] {
  if (command === undefined) return [];
  const typed = plainLabel(`/vps ${command}`, 200);
  const confirm = confirmation({ title: 'Run this command?', text: typed, confirm: 'Run' });
  return [actions(continueButton.element(`Run ${typed}`, { id }, { style: 'primary', confirm }))];
}

/** What the requester reads right after the request, with the button that withdraws it. */
export function requestedMessage(request: AccessRequest, owners: readonly UserId[]): Message {
  const { id, state, cards } = request;
  const wanted = describeWantedRole(request);
  if (state !== 'open') return textMessage(`Your request for the ${wanted} has already been answered.`);
  const sent =
    cards.length > 0
      ? `Request for the ${wanted} sent to ${owners.map(mention).join(', ')}. We’ll let you know.`
      : `Your request for the ${wanted} is saved, but we couldn’t message an owner yet. We’ll keep trying for a day. You can also ask an owner yourself: they’ll find it in \`/vps access\`.`;
  return textMessage(sent, actions(withdrawAccessButton.element('Withdraw request', { id })));
}

/** What the requester reads when they have withdrawn their requests. */
export function withdrawnMessage(requests: readonly AccessRequest[]): Message {
  const what = requests.map((request) => `the ${describeWantedRole(request)}`);
  const noun = requests.length === 1 ? 'request' : 'requests';
  return textMessage(`You withdrew your ${noun} for ${what.join(', ')}.`);
}

/** Confirms to the owner what they answered. */
export function answeredWords(request: AccessRequest): string {
  const { requesterId, isNotified, state } = request;
  const who = mention(requesterId);
  const told = isNotified ? '' : ` We couldn’t message ${who} yet, and will keep trying for a day.`;
  if (state === 'denied') return `Denied: ${who} doesn’t get the ${describeWantedRole(request)}.${told}`;
  return `Approved: ${who} is now ${describeNewRole(grantedOf(request))}.${told}`;
}
