import { afterEach, beforeEach, expect, test } from 'vitest';
import { money } from '../../src/core/money.ts';
import { DEFAULT_SETTINGS } from '../../src/core/settings.ts';
import { answerApproval } from '../../src/requests/approval.ts';
import { callerOf, ID, openScenario, press, type Scenario } from '../purchases/support/scenario.ts';

let scenario: Scenario;
beforeEach(async () => {
  scenario = await openScenario();
  const approval = { ...DEFAULT_SETTINGS.approval, createAbove: money(0) };
  await scenario.store.workspaces.changeSettings('T1', DEFAULT_SETTINGS, { ...DEFAULT_SETTINGS, approval });
  await press(scenario.start());
});
afterEach(() => scenario.close());

test.each([
  'before',
  'after',
])('an approval may still be carried out if the store fails %s it is written, and its user is told so', async (moment) => {
  const at = `${moment} commit of approved and prepared`;
  const process = scenario.start({ kind: 'database_fails', at, forMs: 20_000 });
  const approval = { id: ID, answer: { kind: 'approve' } } as const;
  const approved = process.run(process.entry.execute(answerApproval, approval, callerOf('U2')));
  await expect(approved).rejects.toMatchObject({ code: 'order_unsaved' });
  const isWritten = moment === 'after';
  const { ledger } = scenario.store;
  expect(await ledger.find(ID)).toEqual(
    isWritten ? expect.objectContaining({ state: 'prepared' }) : undefined,
  );
  await process.runBackground(async () => (await ledger.find(ID))?.state !== 'prepared');
  expect(scenario.hosting.charges).toBe(isWritten ? 1 : 0);
});
