import type { Card } from '../../domain/decision.ts';
import type { UserId, WorkflowKeyId, WorkflowRunId, WorkspaceId } from '../../domain/ids.ts';
import type { Secret } from '../../domain/secret.ts';
import type { WorkflowKey } from '../../domain/workflow-key.ts';
import type { RunOutcome, RunState, WorkflowRun } from '../../domain/workflow-run.ts';

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
