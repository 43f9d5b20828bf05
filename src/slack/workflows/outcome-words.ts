import { describeReason, type ReasonWords } from '../../domain/reason.ts';
import type { RunOutcome, RunOutcomeDetails, WorkflowRun } from '../../domain/workflow-run.ts';
import { describeCode } from '../account/code-words.ts';
import { plainLabel } from '../kit/text.ts';
import { isThere } from '../servers/power-words.ts';
import { VERBS } from '../servers/verbs.ts';

type Act = Pick<WorkflowRun, 'label'> & { readonly action: NonNullable<WorkflowRun['action']> };

/** Longer ones would hide the sentence around them. */
const MOST_LABEL = 80;
const MOST_STATE = 40;

const NOTHING = 'Nothing was done.';

/**
 * How a step ended, in plain text: Slack shows it to users, and later steps can use it. It never mentions servers that the
 * workflow didn't name.
 */
const WORDS: ReasonWords<RunOutcomeDetails, [Act]> = {
  done: ({ state }, { action, label }) => {
    const { past, present } = VERBS[action];
    if (state !== undefined && isThere(action, { state }))
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
  ambiguous_server: ({ count }, { label }) =>
    `${count} servers are labeled ${nameOf(label)}, and a workflow can’t choose. ${NOTHING}`,
  server_protected: (_, { action, label }) =>
    `${nameOf(label)} is protected, so it can’t be ${VERBS[action].past}. ${NOTHING}`,
  rebooted_recently: ({ agoMs }, { label }) =>
    `${nameOf(label)} was rebooted ${Math.max(1, Math.round(agoMs / 1000))} s ago, so it wasn’t rebooted again.`,
  wrong_state: ({ state }, { action, label }) =>
    state === undefined
      ? `${nameOf(label)} can’t be ${VERBS[action].past} in its current state. ${NOTHING}`
      : `${nameOf(label)} is ${stateOf(state)}, so it can’t be ${VERBS[action].past}. ${NOTHING}`,
  not_done: ({ code }, { action, label }) =>
    `${nameOf(label)} wasn’t ${VERBS[action].past}: ${describeCode(code)}.`,
  no_api_key: () => `No hosting account is connected. ${NOTHING}`,
  too_late: () =>
    `This step couldn’t be started in time. ${NOTHING} Run the workflow again if you still want it.`,
  // A code of Slack's: the words for codes are about the hosting API.
  not_posted: ({ reason }) =>
    reason === 'no_answer'
      ? 'Slack didn’t say whether the message with the button was posted in the channel. Nothing was done, and that button does nothing.'
      : `The message with the button couldn’t be posted in the channel (${reason.replaceAll('_', ' ')}). ${NOTHING}`,
  not_pressed: () => `The button wasn’t pressed within a day. ${NOTHING}`,
  canceled: () => `Someone pressed Cancel. ${NOTHING}`,
  unreadable: () => 'The outcome was stored by another version of the app. Check the server’s state.',
};

const INPUTS: Readonly<Record<RunOutcomeDetails['bad_input']['input'], string>> = {
  action: 'The step’s “Action” must be start, stop or reboot.',
  server: 'The step’s “Server” must be the label of one server.',
  channel: 'The step needs a workflow key, or a channel where someone can press a button.',
};

/** Says how a run ended, in plain text. */
export function describeOutcome(run: Pick<WorkflowRun, 'action' | 'label'>, outcome: RunOutcome): string {
  // Without a valid action, nothing was done, and the words don't name one.
  const { action = 'start', label } = run;
  return describeReason<RunOutcomeDetails, keyof RunOutcomeDetails, [Act]>(WORDS, outcome, { action, label });
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
