import type { HostingCode, HostingErrorDetails } from '../../domain/errors.ts';
import type { FailedAct, ServerAct } from '../../domain/failed-act.ts';
import { isWhereLeads } from '../../domain/server-state.ts';
import { codeLabel, codeTyped } from '../kit/text.ts';
import { VERBS } from './verbs.ts';

/** An action that is proven not to have been carried out: which one, on which server, why, and what to do. */
export function failedWords(
  failed: FailedAct,
  code: HostingCode | 'unknown_code',
  details: HostingErrorDetails,
): string {
  if (code === 'wrong_state') return wrongStateWords(failed, details.state);
  return `${codeLabel(failed.label)} was not ${VERBS[failed.act].past}: ${CAUSES[code](details)}`;
}

function wrongStateWords({ act, label: name, isPaidTimeOver }: FailedAct, state: string | undefined): string {
  const label = codeLabel(name);
  const { past } = VERBS[act];
  if (state === undefined) return `The hosting API says that ${label} can’t be ${past} in its current state.`;
  if (act !== 'delete' && act !== 'reboot' && isWhereLeads(act, { state }))
    return `${label} is already ${codeTyped(state)}, so it wasn’t ${past}.`;
  const next = isPaidTimeOver ? 'Its paid time has ended: renew it first.' : nextIn(act, state);
  return `${label} is ${codeTyped(state)}, so it can’t be ${past}. ${next}`;
}

function nextIn(act: ServerAct, state: string): string {
  if (act === 'reboot' && isWhereLeads('stop', { state })) return 'Start the server instead.';
  return /ing$/.test(state) && state !== 'running'
    ? 'Try again in a moment.'
    : 'Check the server, then try again.';
}

type Causes = Readonly<Record<HostingCode | 'unknown_code', (details: HostingErrorDetails) => string>>;

const rejected = () => 'the hosting API rejected the request.';

const CAUSES: Causes = {
  unauthorized: () =>
    'the hosting API rejected the API key. An owner can connect a working one with `/vps connect`.',
  not_allowed: () =>
    'the hosting API isn’t open for this account yet. It opens after the first top-up on the account page.',
  bad_request: rejected,
  not_enough_balance: () => 'the account balance is too low. Top it up on the account page, then try again.',
  limit: rejected,
  not_created: rejected,
  checking: rejected,
  not_found: () => 'it’s no longer in the hosting account.',
  wrong_state: rejected,
  rate_limited: () => 'the hosting API’s rate limit is used up. Try again in a minute.',
  no_answer: () => 'the hosting API didn’t answer. Try again in a moment.',
  unreadable_answer: ({ status }) =>
    isErrorStatus(status)
      ? `the hosting API returned an error (${status}). Try again in a moment.`
      : 'the hosting API’s answer couldn’t be read. Try again in a moment.',
  unknown_code: ({ unknownCode }) =>
    `the hosting API returned an unknown error${unknownCode ? ` (${codeTyped(unknownCode)})` : ''}. Try again in a moment.`,
  not_sent: () => 'the hosting API couldn’t be reached. Try again in a moment.',
};

export function isErrorStatus(status: number | undefined): status is number {
  return status !== undefined && status >= 400;
}
