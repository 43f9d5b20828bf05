import { describeCode } from '../account/audit-sentence.ts';
import { describeReason, type ReasonWords } from '../core/errors.ts';
import type { PostedMessage } from '../core/ids.ts';
import { workflowOf } from '../core/roles.ts';
import type { Secret } from '../core/secret.ts';
import { isTargetState, type PowerAction } from '../core/server.ts';
import { confirmPower } from '../servers/buttons.ts';
import { announcedWords } from '../servers/change-power.ts';
import { actions, context, type Message, textMessage } from '../slack/kit/blocks.ts';
import { codeLabel, escapeText, mention, nameActor, plainLabel, slackDate } from '../slack/kit/text.ts';
import { type NotifierParts, notifySafely } from '../slack/outbox.ts';
import { VERBS } from '../words.ts';
import { ASK_MS, type RunOutcome, type RunOutcomeDetails, type StepEnd, type WorkflowRun } from './run.ts';
import { cancelButton, runButton } from './workflow.ts';

/** Asks a channel to run or cancel a step that has no workflow key. */
export function askMessage(run: WorkflowRun & StepAct, until: number): Message {
  const { id, action, label } = run;
  const { title } = VERBS[action];
  return textMessage(
    `A workflow wants to ${action} ${codeLabel(label)}.`,
    actions(
      runButton.element(title, { run: id }, { style: 'primary', confirm: confirmPower(action) }),
      cancelButton.element('Cancel', { run: id }),
    ),
    context(
      `Anyone with the *operator* role for this server can press the button until ${slackDate(until)}.`,
    ),
  );
}

export function endedMessage(run: WorkflowRun, outcome: RunOutcome): Message {
  const { action, label, pressedBy, key } = run;
  if (action && outcome.code === 'done') {
    const { state } = outcome.details;
    const by = key.kind === 'key' ? workflowOf(key.name) : (pressedBy ?? '');
    const words = announcedWords(action, { server: { label }, state });
    return textMessage(`${nameActor(by)} ${words}`);
  }
  if (outcome.code === 'canceled')
    return textMessage(
      `${mention(outcome.details.by)} canceled a workflow’s ${action} of ${codeLabel(label)}.`,
    );
  return textMessage(escapeText(describeOutcome(run, outcome)), context(sourceWords(run)));
}

/** Names the workflow key or the user that a run came from, as far as that is known. */
function sourceWords({ action, label, key, pressedBy }: WorkflowRun): string {
  const wanted = `${action ?? 'an action'} of ${codeLabel(label)}`;
  if (key.kind === 'key') return `Workflow key *${escapeText(key.name)}* · ${wanted}`;
  return pressedBy === undefined ? `Workflow · ${wanted}` : `Workflow · ${wanted} · ${mention(pressedBy)}`;
}

interface StepAct {
  readonly action: PowerAction;
  readonly label: string;
}

/** Longer ones would hide the sentence around them. */
const MOST_LABEL = 80;
const MOST_STATE = 40;

const NOTHING = 'Nothing was done.';

/**
 * How a step ended, in plain text: Slack shows it to users, and later steps can use it. It never mentions servers that the
 * workflow didn't name.
 */
const WORDS: ReasonWords<RunOutcomeDetails, [StepAct]> = {
  done: ({ state }, { action, label }) => {
    const { past, present } = VERBS[action];
    if (state !== undefined && isTargetState(action, { state }))
      return `${nameOf(label)} was ${past}. It’s ${stateOf(state)}.`;
    const reports = state === undefined ? '' : ` and reports it as ${stateOf(state)}`;
    return `${nameOf(label)} is ${present}: the hosting API accepted the request${reports}.`;
  },
  unconfirmed: ({ state }, { action, label }) => {
    const seen = state === undefined ? '' : ` Right after that, it reported ${stateOf(state)}.`;
    return `We’re not sure whether ${nameOf(label)} was ${VERBS[action].past}: the hosting API didn’t confirm it.${seen} Check its state before you run this again.`;
  },
  interrupted: (_, { action, label }) =>
    `We don’t know whether ${nameOf(label)} was ${VERBS[action].past}: the app stopped before the outcome was known. Check its state before you run this again.`,
  bad_input: ({ input }) => `${INPUTS[input]} ${NOTHING}`,
  key_invalid: () =>
    `The workflow key isn’t valid in this workspace, or was revoked. ${NOTHING} An owner can issue a key with /vps workflow.`,
  key_expired: ({ name }) => `The workflow key “${name}” has expired. ${NOTHING}`,
  key_action: ({ name }, { action }) => `The workflow key “${name}” doesn’t allow “${action}”. ${NOTHING}`,
  key_label: ({ name }, { label }) => `The workflow key “${name}” doesn’t cover ${nameOf(label)}. ${NOTHING}`,
  too_many: ({ most }) =>
    `The limit of ${most} runs a minute was reached. ${NOTHING} Run the workflow again later.`,
  unknown_server: (_, { label }) => `No server has exactly the label ${nameOf(label)}. ${NOTHING}`,
  not_done: ({ code }, { action, label }) =>
    `${nameOf(label)} wasn’t ${VERBS[action].past}: ${describeCode(code)}.`,
  too_late: () =>
    `This step couldn’t be started in time. ${NOTHING} Run the workflow again if you still want it.`,
  // A code of Slack's: the words for codes are about the hosting API.
  not_posted: ({ reason }) =>
    reason === 'no_answer'
      ? 'Slack didn’t say whether the message with the button was posted in the channel. Nothing was done. If the button is there, it won’t do anything.'
      : `The message with the button couldn’t be posted in the channel (${reason.replaceAll('_', ' ')}). ${NOTHING}`,
  not_pressed: () => `The button wasn’t pressed within a day. ${NOTHING}`,
  canceled: () => `Someone pressed Cancel. ${NOTHING}`,
};

const INPUTS: Readonly<Record<RunOutcomeDetails['bad_input']['input'], string>> = {
  action: 'The step’s “Action” must be start, stop or reboot.',
  server: 'The step’s “Server” must be the label of one server.',
  channel: 'The step needs a workflow key, or a channel where someone can press a button.',
};

export function describeOutcome(run: Partial<StepAct>, outcome: RunOutcome): string {
  // Without a valid action, nothing was done, and the words don't name one.
  const { action = 'start', label = '' } = run;
  return describeReason(WORDS, outcome, { action, label });
}

function nameOf(label: string): string {
  return withoutMarkup(plainLabel(label, MOST_LABEL));
}

function stateOf(state: string): string {
  return withoutMarkup(plainLabel(state, MOST_STATE));
}

/** A later step may post it as it is, and Slack reads `<!channel>` in a message as a call to everybody. */
function withoutMarkup(text: string): string {
  return text.replaceAll('<', '‹').replaceAll('>', '›');
}

/** Outcomes that a channel reads even though no user acted. The others only go to Slack, which shows them in the workflow. */
const ANNOUNCED: readonly RunOutcome['code'][] = ['done', 'unconfirmed', 'interrupted'];

/** Tells Slack how our steps end, and channels what workflows do. No method throws. */
export function createWorkflowNotifier({ outbox, log }: NotifierParts) {
  return {
    ask: (run: WorkflowRun): Promise<{ readonly card: PostedMessage } | { readonly reason: string }> =>
      notifySafely(run.id, log, { reason: 'no_answer' }, async () => {
        const { workspaceId, channelId, action } = run;
        if (channelId === undefined || action === undefined) return { reason: 'channel_not_found' };
        const message = askMessage({ ...run, action }, run.receivedAt + ASK_MS);
        const posted = await outbox.postOnce(workspaceId, channelId, message);
        if (posted.kind === 'posted') return { card: posted.card };
        return { reason: posted.kind === 'refused' ? posted.reason : 'no_answer' };
      }),
    end: (run: WorkflowRun, outcome: RunOutcome, token: Secret<string> | undefined) =>
      notifySafely<StepEnd>(run.id, log, 'later', async () => {
        const { workspaceId, executionId } = run;
        const step = { workspaceId, executionId, token };
        const message = describeOutcome(run, outcome);
        if (outcome.code !== 'done') return outbox.endStep(step, { error: message });
        const { label, state = '' } = outcome.details;
        const ended = await outbox.endStep(step, { outputs: { message, server: label, state } });
        // The manifest in Slack differs from ours: the run must not stay open because of that.
        return ended === 'refused_outputs'
          ? outbox.endStep(step, { error: `${message} ${OLD_MANIFEST}` })
          : ended;
      }),
    /** Shows the outcome on the card, or in the channel; returns the channel's message where it can be edited. */
    tell: (run: WorkflowRun, outcome: RunOutcome) =>
      notifySafely<PostedMessage | undefined>(run.id, log, undefined, async () => {
        const { workspaceId, channelId, card } = run;
        const message = endedMessage(run, outcome);
        if (card) return (await outbox.edit(workspaceId, card, message)).kind === 'shown' ? card : undefined;
        const isNews = channelId !== undefined && ANNOUNCED.includes(outcome.code);
        return isNews ? outbox.announceIn(workspaceId, channelId, message) : undefined;
      }),
  };
}

const OLD_MANIFEST = 'Slack refused the step’s outputs: the app’s manifest in Slack is out of date.';
