import { z } from 'zod';
import type { Card } from '../../domain/decision.ts';
import { POWER_ACTIONS } from '../../domain/server.ts';
import type { RunKey, RunOutcome, RunOutcomeDetails, WorkflowRun } from '../../domain/workflow-run.ts';
import { keepPresent } from '../engine/omit-null.ts';
import { findReason, type Schemas } from '../engine/stored-reason.ts';
import type { WorkflowRunRow } from '../engine/workflow-tables.ts';

const none = z.object({});
const named = z.object({ name: z.string() });
const state = z.string().exactOptional();

/** How the details of each outcome are stored. */
const OUTCOMES: Schemas<RunOutcomeDetails> = {
  done: z.object({ label: z.string(), state }),
  unconfirmed: z.object({ state }),
  interrupted: none,
  bad_input: z.object({ input: z.enum(['action', 'server', 'channel']) }),
  key_invalid: none,
  key_expired: named,
  key_action: named,
  key_label: named,
  too_many: z.object({ most: z.number() }),
  unknown_server: none,
  ambiguous_server: z.object({ count: z.number() }),
  server_protected: none,
  rebooted_recently: z.object({ agoMs: z.number() }),
  wrong_state: z.object({ state }),
  not_done: z.object({ code: z.string() }),
  no_api_key: none,
  too_late: none,
  not_posted: z.object({ reason: z.string() }),
  not_pressed: none,
  canceled: z.object({ by: z.string() }),
  unreadable: none,
};

/** A run out of its row. */
export function toRun(row: WorkflowRunRow): WorkflowRun {
  const { card_channel_id: channelId, card_ts: ts } = row;
  const card: Card | null = channelId !== null && ts !== null ? { channelId, ts } : null;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    executionId: row.execution_id,
    label: row.label,
    key: keyOf(row),
    receivedAt: row.received_at,
    state: row.state,
    ...keepPresent({
      action: POWER_ACTIONS.find((each) => each === row.action) ?? null,
      channelId: row.channel_id,
      card,
      pressedBy: row.pressed_by,
      outcome: row.outcome === null ? null : parseOutcome(row.outcome, row.outcome_details ?? '{}'),
    }),
  };
}

/** The columns that say with which key a run came. */
export function columnsOfKey(key: RunKey) {
  const isKey = key.kind === 'key';
  return { key_kind: key.kind, key_id: isKey ? key.id : '', key_name: isKey ? key.name : '' };
}

function keyOf({ key_kind: kind, key_id: id, key_name: name }: WorkflowRunRow): RunKey {
  if (kind === 'key') return { kind, id, name };
  // What another version of the app wrote must not pass for a run that asks.
  return { kind: kind === 'none' ? 'none' : 'invalid' };
}

function parseOutcome(code: string, json: string): RunOutcome {
  return findReason(OUTCOMES, code, json) ?? { code: 'unreadable', details: {} };
}
