import { z } from 'zod';
import { cancelRun, findAskingRun } from '../../app/workflows/answer-card.ts';
import { carryOutStep } from '../../app/workflows/carry-out-step.ts';
import { issueKey, listKeys, revokeKey } from '../../app/workflows/manage-keys.ts';
import { Refusal } from '../../domain/errors.ts';
import { textMessage } from '../kit/blocks.ts';
import { defineCommand } from '../kit/command.ts';
import { defineForm, loadingView } from '../kit/form.ts';
import type { SlackRequest } from '../transport/request.ts';
import { cancelButton, issueButton, keyPages, revokeKeyButton, runButton } from './buttons.ts';
import { ISSUE_TITLE, issuedView, issueForm, issueView, NOT_SHOWN, readIssueFields } from './issue-form.ts';
import { keyScreen } from './key-screen.ts';

const form = defineForm({
  id: 'workflow_key',
  title: ISSUE_TITLE,
  input: z.object({}),
  needs: issueKey,
  load: async (_input, _request, origin) => issueView(origin),
});

/** `/vps workflow`: workflow keys, and the button of steps that have no key. */
export const workflow = defineCommand({
  name: 'workflow',
  usage: 'workflow',
  summary: 'Issue and revoke keys for workflows',
  needs: 'owner',
  parse: ({ words }) => (words.length > 0 ? '`/vps workflow` takes no arguments.' : {}),
  run: async (_input, request) => {
    await request.reply.send(await loadScreen(0, request));
  },
  actions: [
    form.handler,
    issueButton.on((_input, request) => form.open({}, request)),
    keyPages.back.on(turnPage),
    keyPages.further.on(turnPage),
    revokeKeyButton.on(async ({ keyId, page }, request) => {
      await request.execute(revokeKey, { id: keyId });
      await turnPage({ page }, request);
    }),
    runButton.on(({ run }, request) => carryOut(run, request)),
    cancelButton.on(async ({ run: runId }, request) => {
      await request.execute(cancelRun, { runId });
    }),
  ],
  modals: [
    issueForm.onSubmit(issueKey, async ({ fields, viewId }, request) => {
      const wanted = readIssueFields(fields);
      if ('errors' in wanted) return { with: wanted };
      return {
        with: loadingView(ISSUE_TITLE, 'Issuing the key…'),
        after: async () => {
          const issued = await request.execute(issueKey, wanted);
          const { ok } = await request.views.update(viewId, issuedView(issued, request.now()));
          if (!ok) await request.reply.send(textMessage(NOT_SHOWN));
        },
      };
    }),
  ],
});

/** The card shows the outcome. An error goes only to the user who pressed. */
async function carryOut(runId: string, request: SlackRequest): Promise<void> {
  const run = await request.execute(findAskingRun, { runId });
  if (run.action === undefined) throw new Refusal('workflow_run_over', {});
  await request.execute(carryOutStep[run.action], { run });
}

async function loadScreen(page: number, request: SlackRequest) {
  return keyScreen(await request.execute(listKeys, {}), page, request.now());
}

async function turnPage({ page }: { readonly page: number }, request: SlackRequest): Promise<void> {
  await request.reply.replace(await loadScreen(page, request));
}
