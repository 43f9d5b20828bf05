import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import type { AuditDetails } from '../core/audit-entry.ts';
import { defineUseCase } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { WorkflowKeyId } from '../core/ids.ts';
import { EVERY_SERVER, findPattern } from '../core/labels.ts';
import { isKeyExpired, type WorkflowKey } from '../core/roles.ts';
import { Secret } from '../core/secret.ts';
import { POWER_ACTIONS } from '../core/server.ts';
import { DAY_MS } from '../core/time.ts';
import {
  actions,
  confirmation,
  context,
  header,
  type Message,
  option,
  plain,
  preformatted,
  section,
  textMessage,
} from '../slack/kit/blocks.ts';
import { defineButton, definePages, pageNumber, pageOf, type Turn } from '../slack/kit/button.ts';
import { defineCommand } from '../slack/kit/command.ts';
import { defineForm, loadingView, type Origin } from '../slack/kit/form.ts';
import { defineModal } from '../slack/kit/modal.ts';
import { codeLabel, escapeText, mention, slackDate } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { cancelRun, carryOutStep, findAskingRun } from './run.ts';
import { hashKey, KEY_PREFIX } from './store.ts';

/** `forMs`: how long the key works, in milliseconds; absent until it is revoked. */
type WantedKey = Pick<WorkflowKey, 'name' | 'actions' | 'pattern'> & { readonly forMs?: number | undefined };

/** Issues a key. `secret`: the key itself, which is shown once and stored nowhere. @throws Refusal `workflow_key_name` when there is one of that name */
const issueKey = defineUseCase({
  name: 'workflow_key_issue',
  needs: 'owner',
  effect: 'changes',
  subject: (wanted: WantedKey) => ({ details: auditKey(wanted) }),
  run: async (wanted: WantedKey, { actor, app }) => {
    const { system, workflowKeys } = app;
    const { workspaceId, userId: issuedBy } = actor;
    const { name, actions, pattern, forMs } = wanted;
    const issuedAt = system.now();
    const until = forMs === undefined ? undefined : issuedAt + forMs;
    const limits = { actions, pattern, until };
    const key: WorkflowKey = { id: system.newId(), workspaceId, name, issuedBy, issuedAt, ...limits };
    const secret = new Secret(`${KEY_PREFIX}${system.newToken(KEY_BYTES)}`);
    const isAdded = await workflowKeys.add({ ...key, hash: hashKey(secret, workspaceId) });
    if (!isAdded) throw new Refusal('workflow_key_name', { name });
    return { key, secret };
  },
});
type IssuedKey = Awaited<ReturnType<typeof issueKey.run>>;

/** Lists the workflow keys of the workspace, without anything that they could be used with. */
const listKeys = defineUseCase({
  name: 'workflow_keys',
  needs: 'owner',
  effect: 'reads',
  run: (_input: Record<never, never>, { actor, app }): Promise<readonly WorkflowKey[]> =>
    app.workflowKeys.list(actor.workspaceId),
});

/** Revokes a workflow key. Runs that it started and that were not sent are not sent any more. @throws Refusal `workflow_key_gone` */
const revokeKey = defineUseCase({
  name: 'workflow_key_revoke',
  needs: 'owner',
  effect: 'changes',
  subject: ({ id }: { id: WorkflowKeyId }) => ({ details: { kind: 'id', id } }),
  run: async ({ id }: { id: WorkflowKeyId }, { actor, app, setSubject }): Promise<WorkflowKey> => {
    const key = await app.workflowKeys.remove(actor.workspaceId, id);
    if (!key) throw new Refusal('workflow_key_gone', {});
    setSubject({ details: auditKey(key) });
    return key;
  },
});

function auditKey({ name, actions, pattern }: WantedKey): AuditDetails {
  return { kind: 'workflow_key', name, actions, pattern };
}

/** 192 bits: too many to be guessed, so that a plain hash hides them as well as a slow one. */
const KEY_BYTES = 24;

const run = z.object({ run: z.string() });

export const runButton = defineButton('workflow_run', run);
export const cancelButton = defineButton('workflow_cancel', run);

const issueButton = defineButton('workflow_issue', z.object({}));
const revokeKeyButton = defineButton('workflow_revoke', z.object({ keyId: z.string(), page: pageNumber }));
const keyPages = definePages('workflow');

const ROWS_PER_PAGE = 12;

export function keyScreen(keys: readonly WorkflowKey[], asked: number, now: number): Message {
  const { page, pages, from, shown } = pageOf(keys, asked, ROWS_PER_PAGE);
  const place = pages > 1 ? ` Showing ${from + 1}–${from + shown.length} of ${keys.length}.` : '';
  return {
    text: `Workflow keys: ${keys.length} in this workspace`,
    blocks: [
      header('Workflow keys'),
      ...(keys.length === 0 ? [section(NONE)] : shown.map((key) => keyRow(key, page, now))),
      actions(
        issueButton.element('Issue a key…', {}, { style: 'primary' }),
        ...keyPages.buttons({ page, pages }),
      ),
      context(`${ABOUT}${place}`),
    ],
  };
}

const NONE =
  'No keys have been issued. Without a key, the step *Power action on a server* asks in a channel, and someone has to press a button.';
const ABOUT =
  'With a key, a workflow starts, stops or reboots servers without asking anyone. Everyone who can edit the workflow can read its key.';

function keyRow(key: WorkflowKey, page: number, now: number): KnownBlock {
  const { id, name } = key;
  const confirm = confirmation({
    title: 'Revoke this key?',
    text: `Workflows that use ${name} will fail. Revoking takes effect immediately.`,
    confirm: 'Revoke',
    isDangerous: true,
  });
  const label = `Revoke ${name}`;
  return section(
    describeKey(key, now),
    revokeKeyButton.element('Revoke', { keyId: id, page }, { label, confirm }),
  );
}

function describeKey(key: WorkflowKey, now: number): string {
  const { name, issuedBy, issuedAt, lastUsedAt } = key;
  const used = lastUsedAt === undefined ? 'never used' : `last used ${slackDate(lastUsedAt)}`;
  return `*${escapeText(name)}*: ${describeLimits(key, now)}\nIssued by ${mention(issuedBy)}, ${slackDate(issuedAt)} · ${used}`;
}

/** "reboot, stop on `web-*` until …" */
function describeLimits(key: WorkflowKey, now: number): string {
  const { actions: allowed, pattern, until } = key;
  const servers = pattern === EVERY_SERVER ? 'every server' : codeLabel(pattern, 100);
  const words = `${allowed.join(', ')} on ${servers}`;
  if (until === undefined) return words;
  return isKeyExpired(key, now) ? `${words} · *expired*` : `${words} until ${slackDate(until)}`;
}

const ISSUE_TITLE = 'Issue a key';

const ACTION_SETS = [
  { value: 'reboot', text: 'Reboot' },
  { value: 'start', text: 'Start' },
  { value: 'stop', text: 'Stop' },
  { value: 'start,stop', text: 'Start and stop' },
  { value: 'start,reboot', text: 'Start and reboot' },
  { value: 'stop,reboot', text: 'Stop and reboot' },
  { value: 'start,stop,reboot', text: 'Start, stop and reboot' },
] as const;

const DURATIONS = [
  { value: '30', text: '30 days' },
  { value: '90', text: '90 days' },
  { value: '365', text: '1 year' },
  { value: 'permanent', text: 'Until it’s revoked' },
] as const;

const issueForm = defineModal(
  'workflow_key',
  z.object({}),
  z.object({
    name: z.string('Enter a name'),
    actions: z.string('Choose actions'),
    pattern: z.string('Enter a label or a pattern'),
    time: z.string('Choose when the key expires'),
  }),
);
type IssueFields = Parameters<Parameters<typeof issueForm.onSubmit>[1]>[0]['fields'];

export function issueView(origin: Origin): ModalView {
  return issueForm.view({
    origin,
    metadata: {},
    title: ISSUE_TITLE,
    submit: 'Issue',
    blocks: [
      section(
        'A workflow acts with this key without asking anyone. Everyone who can edit the workflow can read the key, so give it only what the workflow needs.',
      ),
      issueForm.textField('name', {
        label: 'Name',
        placeholder: 'nightly reboots',
        hint: 'Shown in announcements and in the audit log.',
        maxLength: MOST_KEY_NAME,
      }),
      issueForm.selectField('actions', {
        label: 'Actions',
        placeholder: 'Choose actions',
        options: ACTION_SETS.map(({ value, text }) => option(text, value)),
      }),
      issueForm.textField('pattern', {
        label: 'Servers',
        placeholder: 'web-*',
        hint: 'A label, or a pattern with * as a wildcard. Enter just * for every server.',
        maxLength: 100,
      }),
      issueForm.selectField('time', {
        label: 'Expires',
        placeholder: 'Choose when',
        options: DURATIONS.map(({ value, text }) => option(text, value)),
        initial: '30',
      }),
    ],
  });
}

const MOST_KEY_NAME = 40;

/** Reads the typed name of a key: 1 to 40 letters, digits, spaces, `.`, `_` and `-`; undefined for anything else. */
function findKeyName(typed: string): string | undefined {
  const name = typed.trim().replace(/\s+/g, ' ');
  const isPlain = /^[\p{L}\p{N} ._-]+$/u.test(name);
  return isPlain && [...name].length <= MOST_KEY_NAME ? name : undefined;
}

function readIssueFields(fields: IssueFields): WantedKey | { readonly errors: Record<string, string> } {
  const name = findKeyName(fields.name);
  if (name === undefined)
    return { errors: { name: 'Use letters, digits, spaces, dots, hyphens and underscores' } };
  const pattern = findPattern(fields.pattern);
  if (pattern === undefined) return { errors: { pattern: 'Enter a label or a pattern, such as web-*' } };
  const chosen = fields.actions.split(',');
  const actions = POWER_ACTIONS.filter((action) => chosen.includes(action));
  const days = Number(fields.time);
  return { name, actions, pattern, forMs: days > 0 ? days * DAY_MS : undefined };
}

/** Shows the key. It can't be shown again. */
export function issuedView({ key, secret }: IssuedKey, now: number): ModalView {
  return {
    type: 'modal',
    title: plain('Workflow key'),
    close: plain('Done'),
    blocks: [
      section(`*${escapeText(key.name)}*: ${describeLimits(key, now)}`),
      preformatted(secret.reveal()),
      context(
        'Copy it now: it can’t be shown again. In Workflow Builder, enter it in the *Workflow key* field of the step *Power action on a server*. You can revoke it with `/vps workflow`.',
      ),
    ],
  };
}

export const NOT_SHOWN =
  'The key was issued, but Slack didn’t show it, and it can’t be shown again. Revoke it with `/vps workflow` and issue another.';

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
    ...keyPages.on(turnPage),
    revokeKeyButton.on(async ({ keyId, page }, request) => {
      await request.execute(revokeKey, { id: keyId });
      await turnPage({ page }, request);
    }),
    // The card shows the outcome. An error goes only to the user who pressed.
    runButton.on(async ({ run: runId }, request) => {
      const run = await request.execute(findAskingRun, { runId });
      if (run.action === undefined) throw new Refusal('workflow_run_over', {});
      await request.execute(carryOutStep[run.action], { run });
    }),
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

async function loadScreen(page: number, request: SlackRequest) {
  return keyScreen(await request.execute(listKeys, {}), page, request.now());
}

async function turnPage({ page }: Turn, request: SlackRequest): Promise<void> {
  await request.reply.replace(await loadScreen(page, request));
}
