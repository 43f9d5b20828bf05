import type { ConfirmationId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import type { AppContext } from '../ports.ts';
import { auditOfOperation } from './audit-operation.ts';
import type { PaidAnswer, SpilledAnswer } from './ports.ts';

/** Keeps an answer in case this process ends before the database takes it. False when that failed as well. */
export async function spillAnswer(
  operationId: ConfirmationId,
  answer: PaidAnswer,
  { spill, log }: AppContext,
): Promise<boolean> {
  return spill.write(operationId, answer).then(
    () => true,
    (error: unknown) => {
      const cause = error instanceof Error ? error.name : 'unknown';
      log.error('a paid answer could not be kept in a file either', { operationId, cause });
      return false;
    },
  );
}

/** Forgets an answer that the database has. One that can't be removed is found to be stored at the next start. */
export async function forgetSpilled(operationId: ConfirmationId, { spill, log }: AppContext): Promise<void> {
  await spill.remove(operationId).catch(() => {
    log.warn('a stored answer could not be removed from its file', { operationId });
  });
}

/** Reads what an earlier process could not store. */
export async function readSpilled({ spill, log }: AppContext): Promise<readonly SpilledAnswer[]> {
  const { answers, unreadable } = await spill.readAll();
  if (unreadable > 0) log.error('paid answers in files can’t be opened: put their key back', { unreadable });
  return answers;
}

/** Stores what an earlier process could not; returns what is still left. */
export async function storeSpilled(
  spilled: readonly SpilledAnswer[],
  app: AppContext,
): Promise<readonly SpilledAnswer[]> {
  const left: SpilledAnswer[] = [];
  for (const answer of spilled) {
    const isStored = await storeOne(answer, app).catch(() => false);
    if (isStored) await forgetSpilled(answer.operationId, app);
    else left.push(answer);
  }
  return left;
}

async function storeOne(
  { operationId, serverId, ...answer }: SpilledAnswer,
  app: AppContext,
): Promise<boolean> {
  const { ledger, system } = app;
  const operation = await ledger.find(operationId);
  if (!operation) return false;
  if (serverId === undefined) {
    if (answer.password) await ledger.keepAnswer(operationId, answer.password, system.now());
    return true;
  }
  const audit = auditOfOperation(operation, app, 'done', { serverId, surface: 'background' });
  const settled = { ...answer, serverId, at: system.now(), isFirstHand: true };
  return (await ledger.settle(operationId, settled, audit)) || isStoredBefore(operation, answer);
}

function isStoredBefore({ state, hasPassword }: Operation, { password }: PaidAnswer): boolean {
  return state === 'settled' && (hasPassword || password === undefined);
}
