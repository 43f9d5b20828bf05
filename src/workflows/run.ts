import type { AppContext } from '../context.ts';
import { type Caller, defineUseCase, type Entry, type UseCase, type UseCaseContext } from '../core/entry.ts';
import { describeDefect, HostingError, isExpected, isRefusal, type Reason, Refusal } from '../core/errors.ts';
import type {
  ChannelId,
  PostedMessage,
  UserId,
  WorkflowKeyId,
  WorkflowRunId,
  WorkspaceId,
} from '../core/ids.ts';
import { LABEL_MAX_CHARACTERS } from '../core/labels.ts';
import { A_WORKFLOW, workflowOf } from '../core/roles.ts';
import type { Secret } from '../core/secret.ts';
import { POWER_ACTIONS, type PowerAction, perPowerAction } from '../core/server.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { Job, JobHandler } from '../db/jobs.ts';
import { changePower } from '../servers/change-power.ts';
import { hashKey, KEY_PREFIX, RUN } from './store.ts';

/**
 * The states of a run: received → (without a key) asking → sent → ended. It is `sent` before the request to the hosting API
 * leaves, so a run that is found `sent` by another process may have been carried out, and is never sent again.
 */
export type RunState = 'received' | 'asking' | 'sent' | 'ended';

/** The workflow key that a run was started with. `invalid`: the input is no key of this workspace. Only a `key` has an ID and a name. */
export interface RunKey {
  readonly kind: 'none' | 'invalid' | 'key';
  readonly id: WorkflowKeyId;
  readonly name: string;
}

export const NO_KEY: RunKey = { kind: 'none', id: '', name: '' };

export interface WorkflowRun {
  readonly id: WorkflowRunId;
  readonly workspaceId: WorkspaceId;
  /** Slack's ID of it (`Fx…`): the same however often Slack delivers the event. */
  readonly executionId: string;
  /** Absent if the input names none of the three actions. */
  readonly action?: PowerAction;
  /** The label in the step's input; empty if the input can't be a label. */
  readonly label: string;
  readonly key: RunKey;
  /** Where the outcome is announced, and where a run without a key asks. */
  readonly channelId?: ChannelId;
  readonly receivedAt: number;
  readonly state: RunState;
  /** The message with the button. */
  readonly card?: PostedMessage;
  readonly pressedBy?: UserId;
  readonly outcome?: RunOutcome;
}

/** How a run can end, by code. Only `done` completes the step; everything else fails it. */
export interface RunOutcomeDetails {
  done: { label: string; state?: string };
  /** The hosting API's answer proves nothing. */
  unconfirmed: { state?: string };
  /** The process ended after it had begun to send, so the outcome is unknown. */
  interrupted: Record<never, never>;
  bad_input: { input: 'action' | 'server' | 'channel' };
  key_invalid: { name: string };
  key_expired: { name: string };
  key_action: { name: string };
  key_label: { name: string };
  too_many: { most: number };
  unknown_server: Record<never, never>;
  /** Proven not done: by one of our rules, or what the hosting API, or the way to it, said. */
  not_done: { code: string };
  /** It could not be begun within minutes. */
  too_late: Record<never, never>;
  not_posted: { reason: string };
  not_pressed: Record<never, never>;
  canceled: { by: UserId };
}
export type RunOutcome = Reason<RunOutcomeDetails>;

/** The most runs that are carried out in any minute with one key, or without a key in one channel. */
const MOST_RUNS_A_MINUTE = 10;

export type NewRun = Omit<WorkflowRun, 'state' | 'card' | 'pressedBy' | 'outcome'>;

/** The result of reporting the end of a step. `told`: Slack has the outcome, or no longer accepts it. */
export type StepEnd = 'told' | 'refused_outputs' | 'later';

export interface StepEvent {
  readonly workspaceId: WorkspaceId;
  readonly executionId: string;
  /** The inputs as they were entered in the workflow: the action, the server and the key. */
  readonly action: string;
  readonly server: string;
  readonly key: Secret<string> | undefined;
  readonly channelId: ChannelId | undefined;
  /** When Slack sent it, in epoch milliseconds. */
  readonly sentAt: number | undefined;
  readonly token: Secret<string> | undefined;
}

/** The longest execution ID that is accepted; Slack's are much shorter. */
const MOST_ID = 64;

/**
 * Stores the run, and the job that carries it out, before Slack gets its ack. Returns the work that follows the ack and never
 * rejects; undefined if it was stored before.
 */
export async function receiveStep(
  event: StepEvent,
  app: AppContext,
): Promise<(() => Promise<void>) | undefined> {
  const { log, jobs, workflowRuns } = app;
  const run = await readRun(event, app);
  if (!(await workflowRuns.receive(run, event.token))) return undefined;
  return async () => {
    // If it can't be begun now, it stays due.
    await jobs.runNow(RUN, run.id).catch((error: unknown) => {
      log.warn('a workflow step could not be started', { runId: run.id, ...describeDefect(error) });
    });
  };
}

/** Makes a run from Slack's event. It names its workflow key; the key itself goes no further. */
async function readRun(event: StepEvent, app: AppContext): Promise<NewRun> {
  const { workspaceId, executionId } = event;
  const now = app.system.now();
  const typed = event.action.trim().toLowerCase();
  const action = POWER_ACTIONS.find((each) => each === typed);
  const label = findPlain(event.server, LABEL_MAX_CHARACTERS);
  const channelId = findPlain(event.channelId ?? '', MOST_ID);
  const hash = event.key && hashKey(event.key, workspaceId);
  const key = hash && (await app.workflowKeys.findByHash(workspaceId, hash));
  const runKey: RunKey = hash ? { ...NO_KEY, kind: 'invalid' } : NO_KEY;
  return {
    id: app.system.newId(),
    workspaceId,
    executionId,
    label: label ?? '',
    key: key ? { kind: 'key', id: key.id, name: key.name } : runKey,
    // An event that waited at Slack is as late as one that waited here.
    receivedAt: Math.min(now, event.sentAt ?? now),
    action,
    channelId,
  };
}

/** Reads an input; undefined if it is too long, or a workflow key in the wrong field, since inputs are stored and shown. */
function findPlain(typed: string, most: number): string | undefined {
  const text = typed.trim();
  return text === '' || text.length > most || text.includes(KEY_PREFIX) ? undefined : text;
}

/** How long after it was received a run may begin: someone else may have done the same since. */
const BEGIN_WITHIN_MS = 2 * MINUTE_MS;
export const ASK_MS = DAY_MS;

/** Creates the handler that continues a run, by the job that `workflowRuns.receive` adds, until Slack knows how the run ended. */
export function createStepRunner(entry: Entry, app: AppContext): JobHandler {
  return async (job) => {
    const run = await app.workflowRuns.find(job.workspaceId, job.key);
    if (run) await goOn(run, entry, app);
    return findNextLook(job, app);
  };
}

async function goOn(run: WorkflowRun, entry: Entry, app: AppContext): Promise<void> {
  switch (run.state) {
    case 'received':
      return begin(run, entry, app);
    case 'asking':
      if (app.system.now() < run.receivedAt + ASK_MS) return;
      return endRun(run, ['asking'], { code: 'not_pressed', details: {} }, app);
    // Its request may have left, so it is never sent again, and its outcome is unknown.
    case 'sent':
      return endRun(run, ['sent'], { code: 'interrupted', details: {} }, app);
    case 'ended':
      if (!run.outcome) return;
      await tellSlack(run, run.outcome, app);
      if (run.card) await tellUsers(run, run.outcome, app);
  }
}

async function begin(run: WorkflowRun, entry: Entry, app: AppContext): Promise<void> {
  const refused = await findRefusal(run, app);
  if (refused) await endRun(run, ['received'], refused, app);
  else if (run.key.kind === 'none') await ask(run, app);
  else await act(run, entry, app);
}

async function findNextLook({ workspaceId, key }: Job, app: AppContext): Promise<number | undefined> {
  const run = await app.workflowRuns.find(workspaceId, key);
  if (!run) return undefined;
  if (run.state === 'asking') return run.receivedAt + ASK_MS;
  const now = app.system.now();
  const waitMs = Math.max((now - run.receivedAt) / 2, SHORTEST_RETRY_MS);
  return now + Math.round(Math.min(waitMs, LONGEST_RETRY_MS));
}

async function findRefusal(
  run: WorkflowRun,
  { system, workflowRuns }: AppContext,
): Promise<RunOutcome | undefined> {
  if (system.now() - run.receivedAt > BEGIN_WITHIN_MS) return { code: 'too_late', details: {} };
  const input = findBadInput(run);
  if (input) return { code: 'bad_input', details: { input } };
  const isWithin = await workflowRuns.isWithinLimit(run, { most: MOST_RUNS_A_MINUTE, withinMs: MINUTE_MS });
  return isWithin ? undefined : { code: 'too_many', details: { most: MOST_RUNS_A_MINUTE } };
}

function findBadInput({ action, label, key, channelId }: WorkflowRun) {
  if (action === undefined) return 'action';
  if (label === '') return 'server';
  return key.kind === 'none' && channelId === undefined ? 'channel' : undefined;
}

/** Posts the card and stores where it is. A crash in between leaves two cards of one run, which is carried out once. */
async function ask(run: WorkflowRun, app: AppContext): Promise<void> {
  const posted = await app.workflowNotifier.ask(run);
  if ('card' in posted) await app.workflowRuns.ask(run, posted.card);
  else await endRun(run, ['received'], { code: 'not_posted', details: posted }, app);
}

async function act(run: WorkflowRun, entry: Entry, app: AppContext): Promise<void> {
  const { action } = run;
  if (action === undefined) return;
  try {
    await entry.execute(carryOutStep[action], { run }, callerOf(run));
  } catch (error) {
    // Another process has taken it over.
    if (isRefusal(error, 'workflow_run_over')) throw error;
    if (!isExpected(error))
      app.log.error('a workflow step failed unexpectedly', {
        action,
        runId: run.id,
        ...describeDefect(error),
      });
    await endRun(run, ['received'], outcomeOfError(error, run), app);
  }
}

/** A workflow is no user: it may do what its key says, and its key alone. */
function callerOf({ workspaceId, channelId, key }: WorkflowRun): Caller {
  const isKey = key.kind === 'key';
  const userId = isKey ? workflowOf(key.name) : A_WORKFLOW;
  return {
    actor: { workspaceId, userId, channelId },
    surface: 'workflow',
    workflowKeyId: isKey ? key.id : undefined,
  };
}

/**
 * Carries out the step of a run: by its workflow key, or by the user who pressed the button of its card, who need the same role
 * as for the command. The run is stored as sent before the request leaves, so that nothing is ever sent twice for it.
 * @throws Refusal `workflow_run_over`, `workflow_key_invalid`; and what the command throws
 */
export const carryOutStep = perPowerAction(defineStep);

function defineStep(action: PowerAction): UseCase<{ readonly run: WorkflowRun }, RunOutcome> {
  return defineUseCase({
    name: action,
    needs: 'operator',
    effect: 'changes',
    subject: ({ run }) => ({ label: run.label }),
    run: ({ run }, context) => {
      const work = () => carryOut(action, run, context);
      // With a key, it is the run's job that carries it out.
      return run.key.kind === 'none' ? answer(run, context.app, work) : work();
    },
  });
}

/**
 * Does what a user answers on the card, as the run's job: so that no other process continues the run in the meantime, and another
 * one does if this process dies.
 * @throws Refusal `workflow_run_over` while somebody else goes on with it; and what the work throws
 */
async function answer<Result>(
  { id }: WorkflowRun,
  app: AppContext,
  work: () => Promise<Result>,
): Promise<Result> {
  let answered: Promise<Result> | undefined;
  const run = app.jobs.runNow(RUN, id, async (job) => {
    answered = work();
    await answered.catch(() => undefined);
    return findNextLook(job, app);
  });
  await run.catch((error: unknown) => {
    // What was done counts, although it isn't known when to look again.
    if (!answered) throw error;
  });
  if (!answered) throw new Refusal('workflow_run_over', {});
  return answered;
}

async function carryOut(action: PowerAction, run: WorkflowRun, context: UseCaseContext): Promise<RunOutcome> {
  const { app } = context;
  let isSent = false;
  const onSending = async () => {
    await markSent(run, context);
    isSent = true;
  };
  // A user waits, and was asked by the button whether to do it; a workflow was asked nothing.
  const isPress = run.key.kind === 'none';
  const urgency = isPress ? 'user' : 'background';
  const input = { ref: { exactly: run.label }, urgency, isSure: isPress, onSending } as const;
  try {
    const { isUnconfirmed, server, state, actId } = await changePower[action].run(input, context);
    const outcome: RunOutcome = isUnconfirmed
      ? { code: 'unconfirmed', details: { state } }
      : { code: 'done', details: { label: server.label, state } };
    await endRun(run, ['sent'], outcome, app, actId);
    return outcome;
  } catch (error) {
    const outcome = outcomeOfError(error, run, isSent);
    if (isSent) await endRun(run, ['sent'], outcome, app);
    // True for any user who presses the button.
    else if (isRefusal(error, 'unknown_server') || isRefusal(error, 'ambiguous_server'))
      await endRun(run, ['asking'], outcome, app);
    throw error;
  }
}

/** @throws Refusal `workflow_run_over`, `workflow_key_invalid` */
async function markSent(run: WorkflowRun, { actor, app }: UseCaseContext): Promise<void> {
  const now = app.system.now();
  const pressedBy = run.key.kind === 'none' ? actor.userId : undefined;
  const sent = await app.workflowRuns.send(run, { now, pressedBy });
  if (sent === 'key_gone') throw new Refusal('workflow_key_invalid', { problem: 'unknown' });
  if (sent === 'over') throw new Refusal('workflow_run_over', {});
}

/**
 * Why a run has failed. `isSent`: the request may have left. Only an error that is proof then says that nothing was done.
 */
function outcomeOfError(error: unknown, run: WorkflowRun, isSent = false): RunOutcome {
  if (error instanceof HostingError) return { code: 'not_done', details: { code: error.code } };
  if (error instanceof Refusal) return outcomeOfRefusal(error, run);
  return isSent ? { code: 'interrupted', details: {} } : { code: 'not_done', details: { code: 'defect' } };
}

function outcomeOfRefusal(error: Refusal, { key }: WorkflowRun): RunOutcome {
  const { name } = key;
  if (isRefusal(error, 'workflow_key_invalid'))
    return { code: KEY_PROBLEMS[error.details.problem], details: { name } };
  if (isRefusal(error, 'role_needed') && name !== '') return { code: 'key_label', details: { name } };
  if (isRefusal(error, 'unknown_server')) return { code: 'unknown_server', details: {} };
  return { code: 'not_done', details: { code: error.code } };
}

const KEY_PROBLEMS = { unknown: 'key_invalid', expired: 'key_expired', action: 'key_action' } as const;

const SHORTEST_RETRY_MS = 5000;
const LONGEST_RETRY_MS = 10 * MINUTE_MS;
/** How long an outcome is reported to Slack again; a step that Slack hasn't accepted by then stays "in progress" there. */
const GIVE_UP_MS = DAY_MS;

/**
 * Ends a run from one of these states, and notifies Slack and users. Does nothing if it has already ended. `actId`: the act whose
 * outcome will replace the message that the channel gets now.
 */
async function endRun(
  run: WorkflowRun,
  from: readonly RunState[],
  outcome: RunOutcome,
  app: AppContext,
  actId?: string,
): Promise<void> {
  const ended = await app.workflowRuns.end(run, from, outcome);
  if (ended) await Promise.all([tellSlack(ended, outcome, app), tellUsers(ended, outcome, app, actId)]);
}

async function tellSlack(run: WorkflowRun, outcome: RunOutcome, app: AppContext): Promise<void> {
  const { workflowRuns, workflowNotifier, system, log } = app;
  const end = await workflowNotifier.end(run, outcome, await workflowRuns.findToken(run));
  const isTooLate = system.now() - run.receivedAt > GIVE_UP_MS;
  if (end !== 'told' && isTooLate)
    log.warn('Slack did not accept the outcome of a workflow step', { runId: run.id });
  if (end === 'told' || isTooLate) await workflowRuns.markTold(run);
}

async function tellUsers(
  run: WorkflowRun,
  outcome: RunOutcome,
  { workflowNotifier, followedActs, system }: AppContext,
  actId?: string,
): Promise<void> {
  const message = await workflowNotifier.tell(run, outcome);
  if (actId === undefined) return;
  if (message) await followedActs.place(actId, { message }, system.now());
  else await followedActs.forget(actId);
}

/** For a user who may answer it. @throws Refusal `workflow_run_over`, `role_needed` */
export const findAskingRun = defineUseCase({
  name: 'workflow_answer',
  needs: 'operator',
  effect: 'reads',
  run: (input: { runId: WorkflowRunId }, context) => getAsking(input.runId, context),
});

/** Ends a run without doing anything. @throws Refusal `workflow_run_over`, `role_needed` */
export const cancelRun = defineUseCase({
  name: 'workflow_cancel',
  needs: 'operator',
  effect: 'changes',
  run: async (input: { runId: WorkflowRunId }, context): Promise<WorkflowRun> => {
    const { actor, app } = context;
    const run = await getAsking(input.runId, context);
    const canceled = { code: 'canceled', details: { by: actor.userId } } as const;
    await answer(run, app, () => endRun(run, ['asking'], canceled, app));
    return run;
  },
});

async function getAsking(
  runId: WorkflowRunId,
  { actor, app, requireRoleFor, setSubject }: UseCaseContext,
): Promise<WorkflowRun> {
  const run = await app.workflowRuns.find(actor.workspaceId, runId);
  if (run?.key.kind !== 'none') throw new Refusal('workflow_run_over', {});
  setSubject({ label: run.label });
  await requireRoleFor(run.label);
  const isLate = app.system.now() > run.receivedAt + ASK_MS;
  if (run.state !== 'asking' || isLate) throw new Refusal('workflow_run_over', {});
  return run;
}
