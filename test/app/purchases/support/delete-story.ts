import { expect } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../../src/core/settings.ts';
import { answerApproval } from '../../../../src/requests/answer-approval.ts';
import { carryOutDelete, confirmDelete, requestDelete } from '../../../../src/servers/delete-server.ts';
import type { DeleteOperation } from '../../../../src/servers/deletion.ts';
import { T0 } from '../../../store/fixtures.ts';
import type { MortalProcess } from './mortal-process.ts';
import { callerOf, ID, type Scenario } from './scenario.ts';
import { MONTH_MS, type Script } from './scripted-hosting.ts';

/** The server that is there from the start, with its label. */
const DB = { id: 1, label: 'db-1', typedLabel: 'db-1', formId: ID };

/** A user's own delete, or one that another user has to approve. */
export type Way = 'own' | 'approved';

export interface DeleteStory {
  readonly name: string;
  readonly way: Way;
  readonly script?: Script;
}

const lost = (isDone: boolean): Script => ({ kind: 'no_use', code: 'no_answer', isDone });
const withScript = (way: Way, name: string, script?: Script): DeleteStory => ({
  name: `${way === 'own' ? 'a delete' : 'an approved delete'} ${name}`,
  way,
  script,
});

export const DELETES: readonly DeleteStory[] = (['own', 'approved'] as const).flatMap((way) => [
  withScript(way, 'that is done'),
  withScript(way, 'that is answered late', { kind: 'late', afterMs: 25_000 }),
  withScript(way, 'that is tried again after the rate limit', { kind: 'rate_limited' }),
  withScript(way, 'whose answer is lost', lost(true)),
  withScript(way, 'that never arrived', lost(false)),
  withScript(way, 'that the API refuses', { kind: 'refused', code: 'wrong_state' }),
]);

/** Requires a second person where the delete is to be approved. */
export async function arrangeDelete(way: Way, { store }: Scenario): Promise<void> {
  if (way === 'own') return;
  const settings = { ...DEFAULT_SETTINGS, approval: { ...DEFAULT_SETTINGS.approval, delete: true } };
  await store.workspaces.changeSettings('T1', DEFAULT_SETTINGS, settings);
}

/** A press of **Delete**, or what else has to happen until it is approved, and all that it sets off. */
export async function pressDelete(way: Way, process: MortalProcess, { store }: Scenario): Promise<void> {
  const { entry, ports } = process;
  const show = async () => {
    const operation = await store.ledger.findDelete(ID);
    if (operation) await ports.deleteNotifier.notify(operation, undefined);
  };
  const own = async () => {
    await entry.execute(confirmDelete, DB, callerOf('U1'));
    await entry.execute(carryOutDelete, { formId: ID, show }, callerOf('U1'));
  };
  const approved = async () => {
    await entry.execute(requestDelete, DB, callerOf('U1'));
    await entry.execute(answerApproval, { id: ID, answer: { kind: 'approve' } }, callerOf('U2'));
    await entry.drain();
  };
  await process.run(way === 'own' ? own() : approved());
}

export const findDelete = ({ store }: Scenario) => store.ledger.findDelete(ID);

/** Lets the background work until nothing is left to do. */
export async function goOn(process: MortalProcess, scenario: Scenario, tickMs?: number): Promise<void> {
  const isOver = (operation: DeleteOperation | undefined) =>
    operation === undefined || (operation.endedAt !== undefined && operation.notifiedAt !== undefined);
  await process.runBackground(async () => isOver(await findDelete(scenario)), tickMs);
}

/** All that one process lives to see of a delete. What the store throws at a user, the user sees as an error. */
export async function liveDelete(
  process: MortalProcess,
  { way }: DeleteStory,
  scenario: Scenario,
  isPressed: boolean,
): Promise<void> {
  if (isPressed) await pressDelete(way, process, scenario).catch(() => undefined);
  await goOn(process, scenario);
}

/** What has to be true of a delete in the end, whatever happened to the processes. */
export async function checkDeleteLaws(scenario: Scenario, isCertain: boolean): Promise<void> {
  const { hosting, toldDeletes, store } = scenario;
  const operation = await findDelete(scenario);
  const mayHaveRun = hosting.requests.filter(({ mayHavePaid }) => mayHavePaid).length;
  expect(mayHaveRun, 'requests that may have run').toBeLessThanOrEqual(1);
  if (!operation) {
    const facts = { isCertain, sent: hosting.requests.length, told: toldDeletes.length };
    expect(facts).toEqual({ isCertain: false, sent: 0, told: 0 });
    return;
  }
  const { state, endedAt, notifiedAt } = operation;
  expect([endedAt, notifiedAt].includes(undefined), 'is left without an end').toBe(false);
  const isGone = !hosting.servers.some(({ id }) => id === DB.id);
  expect(state === 'settled', 'whether it is settled').toBe(isGone);
  if (state === 'refused') expect(mayHaveRun, 'requests of a refused delete').toBe(0);
  expect(toldDeletes.at(-1)?.operation.state, 'what the user was told last').toBe(state);
  const entries = await store.audit.list({ workspaceId: 'T1', limit: 20 });
  const outcomes = entries
    .filter(({ action, actId }) => action === 'delete' && actId === ID)
    .map(({ outcome }) => outcome);
  expect(outcomes.at(-1), 'how its act begins').toBe('started');
  const end = { settled: 'done', refused: 'failed' }[state as string] ?? 'in_doubt';
  expect(outcomes[0], 'how its act ends').toBe(end);
}

/** The month that is lost with the server. */
export const PAID_UNTIL = T0 + MONTH_MS;
