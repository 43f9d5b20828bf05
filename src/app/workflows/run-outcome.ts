import { HostingError, isExpected, isRefusal, Refusal } from '../../domain/errors.ts';
import type { RunOutcome, WorkflowRun } from '../../domain/workflow-run.ts';
import type { PowerChange } from '../servers/change-power.ts';

/** How a run has ended whose request the hosting API answered, or left without an answer that proves anything. */
export function outcomeOfChange({ isUnconfirmed, server, state }: PowerChange): RunOutcome {
  if (isUnconfirmed) return { code: 'unconfirmed', details: { state } };
  return { code: 'done', details: { label: server.label, state } };
}

/**
 * Why a run has failed. `isSent`: the request may have left. Only an error that is proof then says that nothing was done.
 */
export function outcomeOfError(error: unknown, run: WorkflowRun, isSent = false): RunOutcome {
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
export function isAboutServer({ code }: RunOutcome): boolean {
  return code === 'unknown_server' || code === 'ambiguous_server';
}

/** A defect is logged where it is seen. */
export function isDefect(error: unknown): boolean {
  return !isExpected(error);
}
