import type { WorkflowNotifier } from '../../app/workflows/ports.ts';
import { ASK_MS } from '../../app/workflows/run-step.ts';
import type { Secret } from '../../domain/secret.ts';
import type { RunOutcome, WorkflowRun } from '../../domain/workflow-run.ts';
import type { Log } from '../../log.ts';
import { notifySafely } from '../transport/notify-safely.ts';
import type { Outbox } from '../transport/outbox.ts';
import { askMessage, endedMessage } from './card.ts';
import { describeOutcome } from './outcome-words.ts';

interface Parts {
  readonly outbox: Outbox;
  readonly log: Log;
}

/** Outcomes that a channel reads even though no user acted. The others only go to Slack, which shows them in the workflow. */
const ANNOUNCED: readonly RunOutcome['code'][] = ['done', 'unconfirmed', 'interrupted'];

/** Tells Slack how our steps end, and channels what workflows do. */
export function createWorkflowNotifier({ outbox, log }: Parts): WorkflowNotifier {
  return {
    ask: (run) => notifySafely(run.id, log, { reason: 'no_answer' }, () => ask(run, outbox)),
    end: (run, outcome, token) =>
      notifySafely(run.id, log, 'later' as const, () => end(run, outcome, token, outbox)),
    tell: (run, outcome) => notifySafely(run.id, log, undefined, () => tell(run, outcome, outbox)),
  };
}

async function ask(run: WorkflowRun, outbox: Outbox): ReturnType<WorkflowNotifier['ask']> {
  const { workspaceId, channelId, action } = run;
  if (channelId === undefined || action === undefined) return { reason: 'channel_not_found' };
  const posted = await outbox.postOnce(
    workspaceId,
    channelId,
    askMessage({ ...run, action }, run.receivedAt + ASK_MS),
  );
  if (posted.kind === 'posted') return { card: posted.card };
  return { reason: posted.kind === 'refused' ? posted.reason : 'no_answer' };
}

async function end(
  run: WorkflowRun,
  outcome: RunOutcome,
  token: Secret<string> | undefined,
  outbox: Outbox,
): ReturnType<WorkflowNotifier['end']> {
  const { workspaceId, executionId } = run;
  const step = { workspaceId, executionId, token };
  const message = describeOutcome(run, outcome);
  if (outcome.code !== 'done') return outbox.endStep(step, { error: message });
  const { label, state = '' } = outcome.details;
  const ended = await outbox.endStep(step, { outputs: { message, server: label, state } });
  // The manifest in Slack is another one than ours: the run must not stay open for that.
  return ended === 'refused_outputs' ? outbox.endStep(step, { error: `${message} ${OLD_MANIFEST}` }) : ended;
}

const OLD_MANIFEST = 'Slack refused the step’s outputs: the app’s manifest in Slack is out of date.';

async function tell(run: WorkflowRun, outcome: RunOutcome, outbox: Outbox) {
  const { workspaceId, channelId, card } = run;
  const message = endedMessage(run, outcome);
  if (card) return (await outbox.editOne(workspaceId, card, message)) === 'shown' ? card : undefined;
  const isNews = channelId !== undefined && ANNOUNCED.includes(outcome.code);
  return isNews ? outbox.announceIn(workspaceId, channelId, message) : undefined;
}
