import type { ModalView } from '@slack/types';
import { z } from 'zod';
import type { IssuedKey, WantedKey } from '../../app/workflows/manage-keys.ts';
import { findPattern } from '../../domain/label-pattern.ts';
import { POWER_ACTIONS } from '../../domain/server.ts';
import { DAY_MS } from '../../domain/time.ts';
import { findKeyName, MOST_KEY_NAME } from '../../domain/workflow-key.ts';
import { context, option, plain, preformatted, section } from '../kit/blocks.ts';
import { defineModal } from '../kit/modal.ts';
import type { Origin } from '../kit/origin.ts';
import { escapeText } from '../kit/text.ts';
import { describeLimits } from './key-screen.ts';

export const ISSUE_TITLE = 'Issue a key';

/** One menu entry for each combination of actions. */
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

export const issueForm = defineModal(
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

/** The form in which an owner issues a workflow key. */
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

/** Reads the entered values, or returns an error for the field that is wrong. */
export function readIssueFields(
  fields: IssueFields,
): WantedKey | { readonly errors: Record<string, string> } {
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

/** For when Slack didn't show the modal with the key. */
export const NOT_SHOWN =
  'The key was issued, but Slack didn’t show it, and it can’t be shown again. Revoke it with `/vps workflow` and issue another.';
