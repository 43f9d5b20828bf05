import { describeDefect, HostingError, isExpected, Refusal } from '../../domain/errors.ts';
import type { Operation } from '../../domain/operation.ts';
import { ContradictoryAnswer, refusalOf, unconfirmedReasonOf } from '../../domain/outcome.ts';
import type { Secret } from '../../domain/secret.ts';
import type { AppContext } from '../ports.ts';
import { withTimeout } from '../with-timeout.ts';
import { auditOfOperation } from './audit-operation.ts';
import { storeAnswer } from './payment.ts';
import { resolveUnconfirmed } from './resolve-unconfirmed.ts';

/** The first look at an unconfirmed operation comes within 3 s (docs/design.md 4.8). */
const FIRST_LOOK_MS = 1500;

/** Ends a payment that threw: refused with proof that it was not done, unconfirmed without (docs/design.md 4.4). */
export async function endFailedPayment(
  operation: Operation,
  error: unknown,
  owner: string,
  app: AppContext,
): Promise<void> {
  const store = () => storeEnd(operation, error, owner, app);
  const password = answerIn(error);
  await (password ? storeAnswer(operation.id, { password }, store, app) : store());
  if (isSuccessWithoutProof(error)) await lookOnce(operation, app);
  if (refusalOf(error)) return;
  const cause = isExpected(error) ? { cause: error.code } : describeDefect(error);
  app.log.error('a payment met a defect', { operationId: operation.id, ...cause });
}

function isSuccessWithoutProof(error: unknown): boolean {
  const status = error instanceof HostingError ? (error.details.status ?? 0) : 0;
  return status >= 200 && status <= 299;
}

/** How long its actor may have to wait for the list; the background looks on. */
const LOOK_MOST_MS = 5000;

/** The list may prove what the answer didn't, before its actor reads that nobody knows (docs/hosting-api.md 4.12, 5). */
async function lookOnce({ id }: Operation, app: AppContext): Promise<void> {
  const operation = await app.ledger.find(id);
  if (operation?.state !== 'unconfirmed') return;
  const look = resolveUnconfirmed(operation, 0, app);
  await withTimeout(look, app.system, LOOK_MOST_MS).catch(() => undefined);
}

async function storeEnd(operation: Operation, error: unknown, owner: string, app: AppContext): Promise<void> {
  const { ledger } = app;
  const state = (await ledger.find(operation.id))?.state;
  const refusal = refusalOf(error);
  const at = app.system.now();
  // Confirmed and not sent: the next start carries it out.
  if (state === 'prepared' && refusal?.code === 'shutting_down') return;
  if (state === 'prepared' || (wasSent(state) && provesNothingDone(error))) {
    const reason = refusal ?? { code: 'defect', details: {} };
    const audit = auditOfOperation(operation, app, 'failed', { code: reason.code });
    await ledger.refuse(operation.id, { at, reason, owner }, audit);
  } else if (state === 'sent') {
    const reason = unconfirmedReasonOf(error);
    const audit = auditOfOperation(operation, app, 'in_doubt', { code: reason.code });
    const unconfirmed = {
      dueAt: at + FIRST_LOOK_MS,
      reason,
      sealedAnswer: answerIn(error),
    };
    const isMarked = await ledger.markUnconfirmed(operation.id, unconfirmed, audit);
    if (!isMarked) await keepAnswer(operation, error, app);
    if (reason.code === 'contradiction') await ledger.markNeedsDecision(operation.id, audit, reason);
  } else {
    await keepAnswer(operation, error, app);
  }
}

/** What another process has ended meanwhile keeps what came: it may hold the root password. */
async function keepAnswer({ id }: Operation, error: unknown, { ledger, system }: AppContext): Promise<void> {
  const answer = answerIn(error);
  if (answer) await ledger.keepAnswer(id, answer, system.now());
}

/** Also by a process that has lost it to another one since: its own proof counts for what it sent itself. */
function wasSent(state: Operation['state'] | undefined): boolean {
  return state === 'sent' || state === 'unconfirmed';
}

function answerIn(error: unknown): Secret<string> | undefined {
  const isAnswer = error instanceof HostingError || error instanceof ContradictoryAnswer;
  return isAnswer ? error.sealedAnswer : undefined;
}

function provesNothingDone(error: unknown): boolean {
  if (error instanceof HostingError) return error.moneyMoved === 'no';
  // Thrown between two tries of a request whose earlier tries were all proven not to have run.
  return error instanceof Refusal;
}
