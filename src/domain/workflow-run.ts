import type { Card } from './decision.ts';
import type { ChannelId, UserId, WorkflowKeyId, WorkflowRunId, WorkspaceId } from './ids.ts';
import type { Reason } from './reason.ts';
import type { PowerAction } from './server.ts';

/**
 * The states of a run: received → (without a key) asking → sent → ended. It is `sent` before the request to the hosting API
 * leaves, so a run that is found `sent` by another process may have been carried out, and is never sent again.
 */
export const RUN_STATES = ['received', 'asking', 'sent', 'ended'] as const;
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
  /** The reason was written by another version of the app. */
  unreadable: Record<never, never>;
}
export type RunOutcome = Reason<RunOutcomeDetails>;

/** So many runs with one key, or without a key in one workspace, are carried out in any minute. */
export const MOST_RUNS_A_MINUTE = 10;
