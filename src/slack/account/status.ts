import { type ApiStatus, readStatus, type Status } from '../../app/account/read-status.ts';
import { labelOf, type OperationState } from '../../domain/operation.ts';
import { approvalActions, approvalModals } from '../approvals/answer-buttons.ts';
import { waitingBlocks } from '../approvals/approval-card.ts';
import { actions, facts, type Message, section } from '../kit/blocks.ts';
import { defineCommand, parseNothing } from '../kit/command.ts';
import { codeLabel, count, mention, plainLabel, slackDate } from '../kit/text.ts';
import { decideButton } from '../purchases/buttons.ts';
import { decideModals, decisionActions } from '../purchases/decide.ts';
import { wordsOfError } from '../words.ts';
import { frozenWords } from './frozen-words.ts';
import { slackStatusBlock } from './slack-status.ts';

export const status = defineCommand({
  name: 'status',
  usage: 'status',
  summary: 'Show API health, unconfirmed orders, pending approvals and what the app may do in Slack',
  needs: 'viewer',
  parse: parseNothing,
  run: async (_input, request) => {
    const found = await request.execute(readStatus, {});
    await request.reply.send(statusMessage(found, request.currency));
  },
  actions: [...decisionActions, ...approvalActions],
  modals: [...decideModals, ...approvalModals],
});

/** How the app and the API are doing, as far as this workspace is concerned. */
export function statusMessage(found: Status, currency: string): Message {
  const { api, freeze } = found;
  return {
    text: api.isUsable ? 'The hosting API is up.' : 'The hosting API isn’t available right now.',
    blocks: [
      section(describeApi(api, currency)),
      ...(freeze ? [section(frozenWords({ frozenBy: freeze.by, since: freeze.since }))] : []),
      facts([
        ['API requests this minute', describeBudget(api)],
        ['Unconfirmed orders', describeOpen(found)],
        ['Unsaved root passwords', String(found.passwordsHeld)],
      ]),
      slackStatusBlock(found.slack),
      ...decisions(found),
      ...approvals(found, currency),
    ],
  };
}

function describeApi(api: ApiStatus, currency: string): string {
  if (!api.isUsable) return wordsOfError(api.error, currency);
  const answers = `The hosting API is up and the key works (${api.answerMs} ms, ${count(api.servers, 'server')}).`;
  return api.extent === 'maybe_whole' ? `${answers} ${MAYBE_WHOLE}` : answers;
}

const MAYBE_WHOLE =
  'The list of servers contains something that we can’t interpret, so some servers may be missing from it.';

function describeBudget(api: ApiStatus): string {
  if (!api.isUsable) return 'unknown';
  const { taken, limit, waiting } = api.budget;
  return `${taken} of ${limit}${waiting > 0 ? `, ${count(waiting, 'request')} waiting` : ''}`;
}

/** A button for each operation that a manager has to decide. */
function decisions({ open }: Status) {
  const waiting = open.filter(({ needsDecision }) => needsDecision).slice(0, 5);
  if (waiting.length === 0) return [];
  const buttons = waiting.map(({ id, purchase }) =>
    decideButton.element(`Decide ${plainLabel(labelOf(purchase), 40)}…`, { operationId: id }),
  );
  return buttons.map((button) => actions(button));
}

const WAITING_MOST = 5;

/** The pending approvals, in case their cards were lost. */
function approvals(found: Status, currency: string) {
  const all = found.waiting;
  if (all.length === 0) return [];
  const shown = all.slice(0, WAITING_MOST);
  const rest = all.length > shown.length ? `, the oldest ${shown.length} of ${all.length}` : '';
  const each = shown.flatMap((each) => waitingBlocks(each, currency));
  return [section(`*Waiting for approval*${rest}`), ...each];
}

const NEWER = 'orders that only a newer version of the app can read';

const STATES: Readonly<Record<OperationState, string>> = {
  prepared: 'waiting to be sent',
  sent: 'sent, waiting for the answer',
  unconfirmed: 'not confirmed yet',
  settled: 'confirmed',
  refused: 'refused',
};

function describeOpen({ open, hasNewer = false }: Status): string {
  if (open.length === 0) return hasNewer ? NEWER : 'none';
  const lines = open.slice(0, 10).map((operation) => {
    const { state, needsDecision, purchase, actorId, createdAt } = operation;
    const order = `${codeLabel(labelOf(purchase), 40)} (${purchase.kind}, ${mention(actorId)})`;
    return `${order}: ${needsDecision ? 'needs a decision' : STATES[state]}, since ${slackDate(createdAt)}`;
  });
  const rest = open.length - lines.length;
  return [...lines, ...(rest > 0 ? [`and ${rest} more`] : []), ...(hasNewer ? [`and ${NEWER}`] : [])].join(
    '\n',
  );
}
