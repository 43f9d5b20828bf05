import { afterEach, beforeEach, expect, test } from 'vitest';
import { money } from '../../src/core/money.ts';
import { DEFAULT_SETTINGS } from '../../src/core/settings.ts';
import { answerApproval } from '../../src/requests/approval.ts';
import { ID, type MortalProcess, openScenario, press, type Scenario } from '../purchases/support/scenario.ts';

let scenario: Scenario;
beforeEach(async () => {
  scenario = await openScenario();
  const approval = { ...DEFAULT_SETTINGS.approval, createAbove: money(0) };
  await scenario.store.workspaces.changeSettings('T1', DEFAULT_SETTINGS, { ...DEFAULT_SETTINGS, approval });
  await press(scenario.start());
});
afterEach(() => scenario.close());

const answer = (kind: 'approve' | 'deny', process: MortalProcess) =>
  process.run(
    process.entry
      .execute(
        answerApproval,
        { id: ID, answer: { kind } },
        { actor: { workspaceId: 'T1', userId: 'U2', channelId: 'C1' }, surface: 'button' },
      )
      .then(() => process.entry.drain()),
  );
const approve = (process: MortalProcess) => answer('approve', process);
const failing = (at: string) => scenario.start({ kind: 'database_fails', at, forMs: 20_000 });

test.each([
  'before',
  'after',
])('an approval may still be carried out if the store fails %s it is written, and its user is told so', async (moment) => {
  const process = failing(`${moment} commit of approved and prepared`);
  await expect(approve(process)).rejects.toMatchObject({ code: 'approval_unsaved' });
  const isWritten = moment === 'after';
  const { ledger } = scenario.store;
  expect(await ledger.find(ID)).toEqual(
    isWritten ? expect.objectContaining({ state: 'prepared' }) : undefined,
  );
  await process.runBackground(async () => (await ledger.find(ID))?.state !== 'prepared');
  expect(scenario.hosting.charges).toBe(isWritten ? 1 : 0);
});
