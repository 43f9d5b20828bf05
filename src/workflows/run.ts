import type { AppContext } from '../context.ts';
import { type Caller, defineUseCase, type UseCase, type UseCaseContext } from '../core/entry.ts';
import { describeDefect, HostingError, isExpected, isRefusal, type Reason, Refusal } from '../core/errors.ts';
import type { ChannelId, UserId, WorkflowKeyId, WorkflowRunId, WorkspaceId } from '../core/ids.ts';
import { LABEL_MAX_CHARACTERS } from '../core/labels.ts';
import { A_WORKFLOW, workflowOf } from '../core/roles.ts';
import type { Secret } from '../core/secret.ts';
import { POWER_ACTIONS, type PowerAction } from '../core/server.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import { KEY_PREFIX, type WorkflowKey } from '../core/workflow-key.ts';
import type { Card } from '../requests/request.ts';
import { changePower, type PowerChange } from '../servers/change-power.ts';
import { hashKey } from './keys.ts';

/**
 * The states of a run: received → (without a key) asking → sent → ended. It is `sent` before the request to the hosting API
 * leaves, so a run that is found `sent` by another process may have been carried out, and is never sent again.
 */
const RUN_STATES = ['received', 'asking', 'sent', 'ended'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** With which workflow key a run was started; `invalid`: with something that is no key of this workspace. */
export type RunKey =
  | { readonly kind: 'none' }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'key'; readonly id: WorkflowKeyId; readonly name: string };

/** One run of our step in a workflow, as Slack sent it. */
export interface WorkflowRun {
  readonly id: WorkflowRunId;
  readonly workspaceId: WorkspaceId;
  /** Slack's ID of it (`Fx…`): the same however often Slack delivers the event. */
  readonly executionId: string;
  /** Absent where the input names none of the three. */
  readonly action?: PowerAction;
  /** As the step's input has it; empty where it can't be one. */
  readonly label: string;
  readonly key: RunKey;
  /** Where the outcome is announced, and where a run without a key asks. */
  readonly channelId?: ChannelId;
  readonly receivedAt: number;
  readonly state: RunState;
  /** The message with the button. */
  readonly card?: Card;
  /** Who pressed the button. */
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
  key_invalid: Record<never, never>;
  key_expired: { name: string };
  key_action: { name: string };
  key_label: { name: string };
  /** More runs within a minute than are allowed. */
  too_many: { most: number };
  unknown_server: Record<never, never>;
  ambiguous_server: { count: number };
  server_protected: Record<never, never>;
  rebooted_recently: { agoMs: number };
  wrong_state: { state?: string };
  /** Proven not done: what the hosting API, or the way to it, said. */
  not_done: { code: string };
  no_api_key: Record<never, never>;
  /** It could not be begun within minutes. */
  too_late: Record<never, never>;
  /** Slack did not take the message with the button. */
  not_posted: { reason: string };
  /** The button was not pressed for a day. */
  not_pressed: Record<never, never>;
  canceled: { by: UserId };
}
export type RunOutcome = Reason<RunOutcomeDetails>;

/** So many runs with one key, or without a key in one workspace, are carried out in any minute. */
const MOST_RUNS_A_MINUTE = 10;

/** A workflow key with the hash that it is recognized by. */
export interface HashedKey extends WorkflowKey {
  readonly hash: string;
}

/** The workflow keys of each workspace. What is expired stays until it is revoked. */
export interface WorkflowKeys {
  /** False when the workspace has a key of that name, or `most` keys. */
  add(key: HashedKey, most: number): Promise<boolean>;
  find(workspaceId: WorkspaceId, id: WorkflowKeyId): Promise<WorkflowKey | undefined>;
  findByHash(workspaceId: WorkspaceId, hash: string): Promise<WorkflowKey | undefined>;
  /** Oldest first. */
  list(workspaceId: WorkspaceId): Promise<readonly WorkflowKey[]>;
  /** Undefined when it was gone. */
  remove(workspaceId: WorkspaceId, id: WorkflowKeyId): Promise<WorkflowKey | undefined>;
}

/** A run as it arrives. */
export type NewRun = Omit<WorkflowRun, 'state' | 'card' | 'pressedBy' | 'outcome'>;

/** The runs of our step. Each change names the state that it starts from, so that only one process makes it. */
export interface WorkflowRuns {
  /** Stores a run with its token, sealed. False when that execution was stored before. */
  receive(run: NewRun, token: Secret<string> | undefined, dueAt: number): Promise<boolean>;
  find(workspaceId: WorkspaceId, id: WorkflowRunId): Promise<WorkflowRun | undefined>;
  /** Counts it against what its key, or all runs without one in its channel, may do in a minute. False: no more now. */
  admit(
    run: WorkflowRun,
    now: number,
    limit: { readonly most: number; readonly withinMs: number },
  ): Promise<boolean>;
  /** received → asking. */
  ask(run: WorkflowRun, card: Card, dueAt: number): Promise<boolean>;
  /**
   * received or asking → sent, in one transaction with a last look at the workflow key, which may have been revoked. `sent`: the
   * request may leave now, for the only time.
   */
  send(
    run: WorkflowRun,
    by: { readonly now: number; readonly pressedBy?: UserId | undefined; readonly dueAt: number },
  ): Promise<'sent' | 'over' | 'key_gone'>;
  /** Ends it from one of these states. False: another process has ended it, or it goes on. */
  end(run: WorkflowRun, from: readonly RunState[], outcome: RunOutcome, dueAt: number): Promise<boolean>;
  /** Runs that something is to be done about, by any process. */
  listDue(now: number, limit: number): Promise<readonly WorkflowRun[]>;
  /** Does nothing when it has gone on since: then something else is due, at another time. */
  postpone(run: WorkflowRun, dueAt: number): Promise<void>;
  /** The token that Slack gave for this run; undefined where there was none, or it can't be opened. */
  findToken(run: WorkflowRun): Promise<Secret<string> | undefined>;
  /** Slack knows the outcome: the token is erased. */
  markTold(run: WorkflowRun): Promise<void>;
  /** What Slack can't deliver again. */
  removeBefore(receivedAt: number): Promise<void>;
}

/** Notifies Slack and users of a run. No method throws. */
export interface WorkflowNotifier {
  /** Posts the message with the button. */
  ask(run: WorkflowRun): Promise<{ readonly card: Card } | { readonly reason: string }>;
  /** Completes or fails the step in Slack. */
  end(run: WorkflowRun, outcome: RunOutcome, token: Secret<string> | undefined): Promise<StepEnd>;
  /** Shows on the card, or in the channel, the outcome; the channel's message where it can be edited. */
  tell(run: WorkflowRun, outcome: RunOutcome): Promise<Card | undefined>;
}

/** `told`: Slack has the outcome, or no longer accepts it. */
export type StepEnd = 'told' | 'refused_outputs' | 'later';

/** One execution of our step, as Slack's event describes it. */
export interface StepEvent {
  readonly workspaceId: WorkspaceId;
  readonly executionId: string;
  /** As it was entered in the workflow; so with the next two. */
  readonly action: string;
  readonly server: string;
  readonly key: Secret<string> | undefined;
  readonly channelId: ChannelId | undefined;
  /** When Slack sent it, in epoch milliseconds. */
  readonly sentAt: number | undefined;
  /** What Slack gave for this run alone. */
  readonly token: Secret<string> | undefined;
}

/** What Slack's events about our step come to. */
export interface StepIntake {
  /**
   * Stores the run, durably, before Slack gets its ack; undefined when it was stored before. The work follows the ack, and
   * never rejects.
   */
  receive(event: StepEvent): Promise<(() => Promise<void>) | undefined>;
}

/** Slack's IDs are much shorter. */
const MOST_ID = 64;

/** If the process that has stored a run dies, another one begins it after this long. */
const DUE_MS = 15_000;

/** Builds the intake over the one entry. */
export function createStepIntake(entry: RunEntry, app: AppContext): StepIntake {
  const { system, workflowRuns } = app;
  return {
    receive: async (event) => {
      const run: NewRun = await readRun(event, app);
      const isNew = await workflowRuns.receive(run, event.token, system.now() + DUE_MS);
      return isNew ? () => runStep({ ...run, state: 'received' }, entry, app) : undefined;
    },
  };
}

/** The key itself goes no further than this. */
async function readRun(event: StepEvent, app: AppContext): Promise<NewRun> {
  const { workspaceId, executionId } = event;
  const now = app.system.now();
  const typed = event.action.trim().toLowerCase();
  const action = POWER_ACTIONS.find((each) => each === typed);
  const label = findPlain(event.server, LABEL_MAX_CHARACTERS);
  const channelId = findPlain(event.channelId ?? '', MOST_ID);
  return {
    id: app.system.newId(),
    workspaceId,
    executionId,
    label: label ?? '',
    key: await findKey(event, app),
    // What waited with Slack is as late as what waited here.
    receivedAt: Math.min(now, event.sentAt ?? now),
    action,
    channelId,
  };
}

/** Undefined for what is too long, and for a key in the wrong field: everything but the key itself is stored and shown. */
function findPlain(typed: string, most: number): string | undefined {
  const text = typed.trim();
  return text === '' || text.length > most || text.includes(KEY_PREFIX) ? undefined : text;
}

async function findKey({ workspaceId, key }: StepEvent, { workflowKeys }: AppContext): Promise<RunKey> {
  if (!key) return { kind: 'none' };
  const found = await workflowKeys.findByHash(workspaceId, hashKey(key, workspaceId));
  return found ? { kind: 'key', id: found.id, name: found.name } : { kind: 'invalid' };
}

/** The one entry (`authorize/entry.ts`), as far as it is needed here. */
export interface RunEntry {
  execute<Input, Output>(useCase: UseCase<Input, Output>, input: Input, caller: Caller): Promise<Output>;
}

/** What a workflow wanted minutes ago may have been done by someone else since. */
const BEGIN_WITHIN_MS = 2 * MINUTE_MS;
/** The button of a card can be pressed for this long. */
export const ASK_MS = DAY_MS;

/** Does what a run that has arrived asks for. Never throws: every run ends, here or by `sweep-runs.ts`. */
export async function runStep(run: WorkflowRun, entry: RunEntry, app: AppContext): Promise<void> {
  try {
    const refused = await findRefusal(run, app);
    if (refused) await endRun(run, ['received'], refused, app);
    else if (run.key.kind === 'none') await ask(run, app);
    else await act(run, entry, app);
  } catch (error) {
    // The store fails: the run stays due.
    app.log.warn('a workflow step could not be run', { runId: run.id, ...describeDefect(error) });
  }
}

/** What is wrong with a run, before anything is looked up in Slack or with the hosting API. */
async function findRefusal(
  run: WorkflowRun,
  { system, workflowRuns }: AppContext,
): Promise<RunOutcome | undefined> {
  const now = system.now();
  if (now - run.receivedAt > BEGIN_WITHIN_MS) return { code: 'too_late', details: {} };
  const input = findBadInput(run);
  if (input) return { code: 'bad_input', details: { input } };
  const limit = { most: MOST_RUNS_A_MINUTE, withinMs: MINUTE_MS };
  const isAdmitted = await workflowRuns.admit(run, now, limit);
  return isAdmitted ? undefined : { code: 'too_many', details: { most: MOST_RUNS_A_MINUTE } };
}

function findBadInput({ action, label, key, channelId }: WorkflowRun) {
  if (action === undefined) return 'action';
  if (label === '') return 'server';
  return key.kind === 'none' && channelId === undefined ? 'channel' : undefined;
}

/** Posts the card. A crash between both of its halves leaves two cards of one run, which is carried out once. */
async function ask(run: WorkflowRun, app: AppContext): Promise<void> {
  const { locks, workflowRuns, workflowNotifier } = app;
  await locks.runIfFree(lockOf(run), async () => {
    const now = await workflowRuns.find(run.workspaceId, run.id);
    if (now?.state !== 'received') return;
    const posted = await workflowNotifier.ask(run);
    if ('card' in posted) await workflowRuns.ask(run, posted.card, run.receivedAt + ASK_MS);
    else await endRun(run, ['received'], { code: 'not_posted', details: posted }, app);
  });
}

async function act(run: WorkflowRun, entry: RunEntry, app: AppContext): Promise<void> {
  const { action } = run;
  if (action === undefined) return;
  try {
    await entry.execute(carryOutStep[action], { run }, callerOf(run));
  } catch (error) {
    // It is being carried out, or was, elsewhere.
    if (isRefusal(error, 'workflow_run_over')) return;
    if (isDefect(error)) logDefect(action, run, error, app);
    await endRun(run, ['received'], outcomeOfError(error, run), app);
  }
}

function logDefect(action: PowerAction, { id: runId }: WorkflowRun, error: unknown, { log }: AppContext) {
  log.error('a workflow step failed unexpectedly', { action, runId, ...describeDefect(error) });
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

interface StepInput {
  readonly run: WorkflowRun;
}
type Context = UseCaseContext;

/** Other processes check a step that is being sent after this long, and leave it alone while this process is running. */
const SENT_DUE_MS = 15_000;

/**
 * Carries out the step of a run: by its workflow key, or by the user who pressed the button of its card, who need the same role
 * as for the command. The run is stored as sent before the request leaves, so that nothing is ever sent twice for it.
 * @throws Refusal `workflow_run_over`, `workflow_key_invalid`; and what the command throws
 */
export const carryOutStep: Readonly<Record<PowerAction, UseCase<StepInput, RunOutcome>>> = {
  start: defineStep('start'),
  stop: defineStep('stop'),
  reboot: defineStep('reboot'),
};

function defineStep(action: PowerAction): UseCase<StepInput, RunOutcome> {
  return defineUseCase({
    name: action,
    needs: 'operator',
    effect: 'changes',
    subject: ({ run }: StepInput) => ({ label: run.label }),
    run: async ({ run }: StepInput, context): Promise<RunOutcome> => {
      let outcome: RunOutcome | undefined;
      const isFree = await context.app.locks.runIfFree(lockOf(run), async () => {
        outcome = await carryOut(action, run, context);
      });
      if (!isFree || !outcome) throw new Refusal('workflow_run_over', {});
      return outcome;
    },
  });
}

/** Held for as long as a living process carries the run out. */
function lockOf({ id }: Pick<WorkflowRun, 'id'>): string {
  return `workflow run ${id}`;
}

async function carryOut(action: PowerAction, run: WorkflowRun, context: Context): Promise<RunOutcome> {
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
    const change = await changePower[action].run(input, context);
    const outcome = outcomeOfChange(change);
    await endRun(run, ['sent'], outcome, app, change.actId);
    return outcome;
  } catch (error) {
    const outcome = outcomeOfError(error, run, isSent);
    if (isSent) await endRun(run, ['sent'], outcome, app);
    else if (isAboutServer(outcome)) await endRun(run, ['asking'], outcome, app);
    throw error;
  }
}

/** @throws Refusal `workflow_run_over`, `workflow_key_invalid` */
async function markSent(run: WorkflowRun, { actor, app }: Context): Promise<void> {
  const now = app.system.now();
  const pressedBy = run.key.kind === 'none' ? actor.userId : undefined;
  const sent = await app.workflowRuns.send(run, { now, pressedBy, dueAt: now + SENT_DUE_MS });
  if (sent === 'key_gone') throw new Refusal('workflow_key_invalid', { problem: 'unknown' });
  if (sent === 'over') throw new Refusal('workflow_run_over', {});
}

/** How a run has ended whose request the hosting API answered, or left without an answer that proves anything. */
function outcomeOfChange({ isUnconfirmed, server, state }: PowerChange): RunOutcome {
  if (isUnconfirmed) return { code: 'unconfirmed', details: { state } };
  return { code: 'done', details: { label: server.label, state } };
}

/**
 * Why a run has failed. `isSent`: the request may have left. Only an error that is proof then says that nothing was done.
 */
function outcomeOfError(error: unknown, run: WorkflowRun, isSent = false): RunOutcome {
  if (error instanceof HostingError) return outcomeOfHosting(error);
  if (error instanceof Refusal) return outcomeOfRefusal(error, run);
  return isSent ? { code: 'interrupted', details: {} } : { code: 'not_done', details: { code: 'defect' } };
}

function outcomeOfHosting({ code, details }: HostingError): RunOutcome {
  if (code !== 'wrong_state') return { code: 'not_done', details: { code } };
  return { code, details: { state: details.state } };
}

function outcomeOfRefusal(error: Refusal, { key }: WorkflowRun): RunOutcome {
  const name = key.kind === 'key' ? key.name : '';
  if (isRefusal(error, 'workflow_key_invalid')) return outcomeOfKey(error.details.problem, name);
  if (isRefusal(error, 'role_needed') && name !== '') return { code: 'key_label', details: { name } };
  if (isRefusal(error, 'ambiguous_server'))
    return { code: 'ambiguous_server', details: { count: error.details.servers.length } };
  if (isRefusal(error, 'rebooted_recently'))
    return { code: 'rebooted_recently', details: { agoMs: error.details.agoMs } };
  const { code } = error;
  const plain = PLAIN.find((each) => each === code);
  return plain ? { code: plain, details: {} } : { code: 'not_done', details: { code } };
}

const PLAIN = ['unknown_server', 'server_protected', 'no_api_key'] as const;

function outcomeOfKey(problem: 'unknown' | 'expired' | 'action', name: string): RunOutcome {
  switch (problem) {
    case 'unknown':
      return { code: 'key_invalid', details: {} };
    case 'expired':
      return { code: 'key_expired', details: { name } };
    case 'action':
      return { code: 'key_action', details: { name } };
  }
}

/** Whether it says something about the server that is true for any user who presses the button. */
function isAboutServer({ code }: RunOutcome): boolean {
  return code === 'unknown_server' || code === 'ambiguous_server';
}

/** A defect is logged where it is seen. */
function isDefect(error: unknown): boolean {
  return !isExpected(error);
}

/** Another process reports it if this one has died by then. */
const TOLD_WITHIN_MS = 20_000;
const SHORTEST_RETRY_MS = 5000;
const LONGEST_RETRY_MS = 10 * MINUTE_MS;
/** After this long without Slack accepting the outcome, the step stays "in progress" there. */
const GIVE_UP_MS = DAY_MS;
/** Until then the message is as it was posted. */
const FIRST_LOOK_MS = 2000;

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
  const { system, workflowRuns } = app;
  const isMine = await workflowRuns.end(run, from, outcome, system.now() + TOLD_WITHIN_MS);
  if (!isMine) return;
  // The one who pressed is known to the store alone.
  const ended = (await workflowRuns.find(run.workspaceId, run.id)) ?? { ...run, outcome };
  await Promise.all([tellSlack(ended, outcome, app), tellUsers(ended, outcome, app, actId)]);
}

/** Reports an outcome to Slack again that it hasn't accepted, and shows it on the card if it isn't there yet. */
async function tellAgain(run: WorkflowRun, outcome: RunOutcome, app: AppContext): Promise<void> {
  await tellSlack(run, outcome, app);
  if (run.card) await tellUsers(run, outcome, app);
}

async function tellSlack(run: WorkflowRun, outcome: RunOutcome, app: AppContext): Promise<void> {
  const { workflowRuns, workflowNotifier, system, log } = app;
  const end = await workflowNotifier.end(run, outcome, await workflowRuns.findToken(run));
  if (end === 'told') return workflowRuns.markTold(run);
  const ageMs = Math.max(0, system.now() - run.receivedAt);
  if (ageMs > GIVE_UP_MS) {
    log.warn('Slack did not take the outcome of a workflow step', { runId: run.id });
    return workflowRuns.markTold(run);
  }
  const waitMs = Math.min(Math.max(ageMs / 2, SHORTEST_RETRY_MS), LONGEST_RETRY_MS);
  await workflowRuns.postpone(run, system.now() + Math.round(waitMs));
}

async function tellUsers(
  run: WorkflowRun,
  outcome: RunOutcome,
  { workflowNotifier, followedActs, system }: AppContext,
  actId?: string,
): Promise<void> {
  const message = await workflowNotifier.tell(run, outcome);
  if (actId === undefined) return;
  const now = system.now();
  if (message) await followedActs.place(actId, { message }, { now, dueAt: now + FIRST_LOOK_MS });
  else await followedActs.forget(actId);
}

/**
 * Finds the run that a card asks about, for a user who may answer it.
 * @throws Refusal `workflow_run_over`, `role_needed`
 */
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
    await endRun(run, ['asking'], { code: 'canceled', details: { by: actor.userId } }, app);
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

/** A run that is being worked on is looked at again after this long. */
const AGAIN_MS = 15_000;
const MOST_AT_ONCE = 20;

/** Resumes the runs that a crash or a Slack outage has interrupted, and ends the unanswered ones. */
export async function sweepRuns(entry: RunEntry, app: AppContext): Promise<void> {
  const { system, workflowRuns, locks, log } = app;
  const due = await workflowRuns.listDue(system.now(), MOST_AT_ONCE);
  const goOn = async (run: WorkflowRun) => {
    await workflowRuns.postpone(run, system.now() + AGAIN_MS);
    // It takes the lock itself.
    if (run.state === 'received') return runStep(run, entry, app);
    await locks.runIfFree(lockOf(run), () => settle(run, app));
  };
  await Promise.all(
    due.map((run) =>
      goOn(run).catch((error: unknown) => {
        log.warn('a workflow step could not be continued', { runId: run.id, ...describeDefect(error) });
      }),
    ),
  );
}

/** The process that held the lock may have ended it since it was listed. */
async function settle({ workspaceId, id }: WorkflowRun, app: AppContext): Promise<void> {
  const run = await app.workflowRuns.find(workspaceId, id);
  switch (run?.state) {
    // Its request may have left, so it is never sent again, and its outcome is unknown.
    case 'sent':
      return endRun(run, ['sent'], { code: 'interrupted', details: {} }, app);
    case 'asking':
      return endRun(run, ['asking'], { code: 'not_pressed', details: {} }, app);
    case 'ended':
      return run.outcome && tellAgain(run, run.outcome, app);
    default:
  }
}
