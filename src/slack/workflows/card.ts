import { workflowOf } from '../../domain/actor.ts';
import type { PowerAction } from '../../domain/server.ts';
import type { RunOutcome, WorkflowRun } from '../../domain/workflow-run.ts';
import { nameActor } from '../kit/actor-name.ts';
import { actions, context, type Message, textMessage } from '../kit/blocks.ts';
import { codeLabel, escapeText, mention, slackDate } from '../kit/text.ts';
import { confirmationOf } from '../servers/confirm-dialogs.ts';
import { announcedWords } from '../servers/power-words.ts';
import { VERBS } from '../servers/verbs.ts';
import { cancelButton, runButton } from './buttons.ts';
import { describeOutcome } from './outcome-words.ts';

type Act = WorkflowRun & { readonly action: PowerAction };

/** Asks a channel to run or cancel a step that has no workflow key. */
export function askMessage(run: Act, until: number): Message {
  const { id, action, label } = run;
  const { title } = VERBS[action];
  return textMessage(
    `A workflow wants to ${action} ${codeLabel(label)}.`,
    actions(
      runButton.element(title, { run: id }, { style: 'primary', confirm: confirmationOf(action) }),
      cancelButton.element('Cancel', { run: id }),
    ),
    context(
      `Anyone with the *operator* role for this server can press the button until ${slackDate(until)}.`,
    ),
  );
}

/** The outcome, for the card or the channel. */
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

/** Which workflow key or user the run came from, as far as it is known. */
function sourceWords({ action, label, key, pressedBy }: WorkflowRun): string {
  const wanted = `${action ?? 'an action'} of ${codeLabel(label)}`;
  if (key.kind === 'key') return `Workflow key *${escapeText(key.name)}* · ${wanted}`;
  return pressedBy === undefined ? `Workflow · ${wanted}` : `Workflow · ${wanted} · ${mention(pressedBy)}`;
}
